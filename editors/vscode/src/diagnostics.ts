// Diagnostics that belong to the text as it is now.
//
// Language extensions look for problems in documents that are shown in a tab, and some time after the
// text changed. A document that is not shown has no diagnostics at all, which is not the same as none.
import * as vscode from 'vscode';
import { diagnosticOf } from './convert';
import { notReady, unavailable, type EditorDiagnostic, type Told } from './messages';
import { isServed } from './roots';
import { speaksTypeScript, isInstalled, type TypeScript } from './typescript';

/** Without news of a document for so long, its extension is taken to have nothing more to say. */
export const QUIET_MS = 3_000;
/** After news, more may follow at once: extensions report syntax first and meaning second. */
const SETTLED_MS = 500;
const MAX_SHOWN = 64;
const MAX_URIS = 1_000;

export class Diagnostics implements vscode.Disposable {
  private readonly reported = new Map<string, number>();
  private readonly changedAt = new Map<string, number>();
  private lastChange = Date.now();
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly roots: () => readonly string[],
    private readonly typescript: TypeScript,
    changed: (uris: string[]) => void,
  ) {
    this.subscriptions = [
      vscode.languages.onDidChangeDiagnostics((event) => {
        const served = event.uris.filter((uri) => isServed(uri, this.roots()));
        for (const uri of served) this.reported.set(uri.toString(), Date.now());
        if (served.length > 0) changed(served.slice(0, MAX_URIS).map((uri) => uri.toString()));
      }),
      vscode.window.tabGroups.onDidChangeTabs((event) => {
        for (const tab of event.opened) {
          const uri = uriOf(tab);
          if (uri) this.changedAt.set(uri.toString(), Date.now());
        }
      }),
      vscode.workspace.onDidChangeTextDocument((event) => {
        if (event.contentChanges.length > 0) this.changed();
      }),
      vscode.workspace.onDidCloseTextDocument((document) => {
        this.reported.delete(document.uri.toString());
        this.changedAt.delete(document.uri.toString());
      }),
    ];
  }

  /** Something changed that may change the diagnostics of any document. */
  changed(): void {
    this.lastChange = Date.now();
  }

  async ofDocument(
    document: vscode.TextDocument,
    signal: AbortSignal,
  ): Promise<Told & { diagnostics: EditorDiagnostic[] }> {
    if (!shown().some((uri) => uri.toString() === document.uri.toString())) {
      throw unavailable(
        'the editor does not show this document, so nobody has looked for problems in it; open it in a tab, or use sightline serve',
      );
    }
    const loaded = await this.settle(document, signal);
    const found = vscode.languages.getDiagnostics(document.uri);
    return { language: document.languageId, loaded, diagnostics: found.map(diagnosticOf) };
  }

  async ofWorkspace(signal: AbortSignal): Promise<{
    files: { uri: string; diagnostics: EditorDiagnostic[] }[];
    shown: number;
    unloaded: string[];
  }> {
    const documents = shown().filter((uri) => isServed(uri, this.roots()));
    if (documents.length > MAX_SHOWN) {
      throw unavailable(`more than ${MAX_SHOWN} documents are shown; ask document by document`);
    }
    const unloaded = new Set<string>();
    for (const uri of documents) {
      const document = await vscode.workspace.openTextDocument(uri);
      if (!(await this.settle(document, signal))) unloaded.add(document.languageId);
    }
    const files = vscode.languages
      .getDiagnostics()
      .filter(([uri, found]) => found.length > 0 && isServed(uri, this.roots()))
      .map(([uri, found]) => ({ uri: uri.toString(), diagnostics: found.map(diagnosticOf) }));
    return { files, shown: documents.length, unloaded: [...unloaded] };
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /** Waits until what the editor shows is about the text as it is. Whether that is certain. */
  private async settle(document: vscode.TextDocument, signal: AbortSignal): Promise<boolean> {
    if (speaksTypeScript(document.languageId) && isInstalled()) {
      if (!validates(document)) throw unavailable('validation of this language is switched off');
      if (await this.typescript.load(document)) {
        await this.until(signal, document.uri, () => this.agrees(document));
        return true;
      }
    }
    await this.until(signal, document.uri, () => Promise.resolve(this.isQuiet(document.uri)));
    return false;
  }

  /** Whether the editor shows exactly what TypeScript's server itself says. */
  private async agrees(document: vscode.TextDocument): Promise<boolean> {
    const { certain, hints } = await this.typescript.problems(document);
    const place = (code: unknown, line: number, character: number): string =>
      `${String(code)}@${line}:${character}`;
    const said = (found: typeof certain): string[] =>
      found.map((one) => place(one.code, one.start.line - 1, one.start.offset - 1));
    const seen = vscode.languages
      .getDiagnostics(document.uri)
      .filter((one) => one.source === 'ts' || one.source === 'js')
      .map((one) =>
        place(
          typeof one.code === 'object' ? one.code.value : one.code,
          one.range.start.line,
          one.range.start.character,
        ),
      );
    const must = said(certain);
    const may = new Set([...must, ...said(hints)]);
    return must.every((one) => seen.includes(one)) && seen.every((one) => may.has(one));
  }

  private isQuiet(uri: vscode.Uri): boolean {
    const since = Math.max(this.lastChange, this.changedAt.get(uri.toString()) ?? 0);
    const reported = this.reported.get(uri.toString()) ?? 0;
    const now = Date.now();
    return now - since >= QUIET_MS || (reported > since && now - reported >= SETTLED_MS);
  }

  private async until(
    signal: AbortSignal,
    uri: vscode.Uri,
    holds: () => Promise<boolean>,
  ): Promise<void> {
    while (!(await holds())) {
      if (signal.aborted) throw notReady('diagnostics of the current text');
      await this.news(uri, signal);
    }
  }

  /** Resolves at the next report about a document, or soon. */
  private async news(uri: vscode.Uri, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        subscription.dispose();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, 100);
      const subscription = vscode.languages.onDidChangeDiagnostics((event) => {
        if (event.uris.some((one) => one.toString() === uri.toString())) done();
      });
      signal.addEventListener('abort', done);
    });
  }
}

/** The documents in the window's tabs, each once. */
export function shown(): vscode.Uri[] {
  const found = new Map<string, vscode.Uri>();
  for (const tab of vscode.window.tabGroups.all.flatMap((group) => group.tabs)) {
    const uri = uriOf(tab);
    if (uri) found.set(uri.toString(), uri);
  }
  return [...found.values()];
}

function uriOf(tab: vscode.Tab): vscode.Uri | undefined {
  if (tab.input instanceof vscode.TabInputText) return tab.input.uri;
  if (tab.input instanceof vscode.TabInputTextDiff) return tab.input.modified;
  return undefined;
}

function validates(document: vscode.TextDocument): boolean {
  const language = document.languageId.startsWith('type') ? 'typescript' : 'javascript';
  const older = vscode.workspace.getConfiguration(language, document);
  const newer = vscode.workspace.getConfiguration('js/ts', document);
  return (
    older.get<boolean>('validate.enable', true) && newer.get<boolean>('validate.enabled', true)
  );
}
