// When the answers of the built-in TypeScript extension may be believed.
//
// While a project loads, that extension asks a second, syntactic server, which knows one file at a time
// and names the import line where the definition is elsewhere. Without a tsconfig it goes on doing so
// until a document has been shown. Its command "typescript.tsserverRequest" says which server answered,
// and a request for syntax errors makes the semantic server load the project of a document first.
import * as vscode from 'vscode';
import { notReady, unavailable } from './messages';

const EXTENSION = 'vscode.typescript-language-features';
const COMMAND = 'typescript.tsserverRequest';
const LANGUAGES = new Set(['typescript', 'typescriptreact', 'javascript', 'javascriptreact']);
const SUFFIX = /\.(?:[cm]?[jt]s|[jt]sx)$/i;
/** How many symbols the extension asks its server for; more are cut without a word. */
export const MAX_SYMBOLS = 256;
/** How long the syntactic server may answer before that is taken as lasting. */
const LASTING_MS = 10_000;
const MAX_PROBES = 8;

/** An answer of the command. Another version of the extension may leave out any of it. */
interface Reply {
  type?: string;
  _serverType?: string;
  request_seq?: number;
  body?: unknown;
}

/** A diagnostic as the server spells it: lines and columns from 1. */
export interface ServerDiagnostic {
  start: { line: number; offset: number };
  code?: number;
}

export const speaksTypeScript = (languageId: string): boolean => LANGUAGES.has(languageId);
export const isTypeScriptFile = (uri: vscode.Uri): boolean => SUFFIX.test(uri.path);
export const isInstalled = (): boolean => vscode.extensions.getExtension(EXTENSION) !== undefined;

export class TypeScript {
  private semanticAt = -1;
  private lastRequest = 0;
  private syntacticSince: number | undefined;
  /** How often it had to be found out which server answers. */
  proofs = 0;

  /** `turns` rises with everything after which a project may have to be loaded again. */
  constructor(private readonly turns: () => number) {}

  /** Whether the project was loaded when it was last looked at, and nothing happened since. */
  isKnown(): boolean {
    return this.semanticAt === this.turns();
  }

  /** Resolves to true once the project of a document is loaded; false if another extension answers. */
  async load(document: vscode.TextDocument, position?: vscode.Position): Promise<boolean> {
    const extension = vscode.extensions.getExtension(EXTENSION);
    if (!extension) return false;
    if (!extension.isActive) await extension.activate();
    const turn = this.turns();
    const reply = await this.request('syntacticDiagnosticsSync', document);
    if (reply === undefined) return false;
    if (reply.type !== 'response') throw notReady('TypeScript to start');
    const request = reply.request_seq ?? 0;
    const restarted = request < this.lastRequest;
    this.lastRequest = request;
    if (!restarted && this.semanticAt === turn) return true;
    this.proofs += 1;
    if (!(await this.isSemantic(document, position))) this.refuse();
    this.syntacticSince = undefined;
    if (this.turns() === turn) this.semanticAt = turn;
    return true;
  }

  /** What the server itself says is wrong with a document, or undefined if it cannot be asked. */
  async problems(document: vscode.TextDocument): Promise<{
    certain: ServerDiagnostic[];
    hints: ServerDiagnostic[];
  }> {
    const ask = async (command: string): Promise<ServerDiagnostic[]> => {
      const reply = await this.request(command, document);
      if (reply?.type !== 'response' || !Array.isArray(reply.body)) throw notReady('TypeScript');
      return reply.body as ServerDiagnostic[];
    };
    const certain = [
      ...(await ask('syntacticDiagnosticsSync')),
      ...(await ask('semanticDiagnosticsSync')),
    ];
    return { certain, hints: await ask('suggestionDiagnosticsSync') };
  }

  private async isSemantic(
    document: vscode.TextDocument,
    position: vscode.Position | undefined,
  ): Promise<boolean> {
    for (const probe of probes(document, position)) {
      const reply = await this.request('quickinfo', document, probe);
      if (reply?.type === 'noContent') continue; // nothing there: neither server has said a word
      if (reply?.type !== 'response') throw notReady('TypeScript to start');
      return reply._serverType !== 'syntax';
    }
    return true; // a document without a single name: there is nothing to be wrong about
  }

  private refuse(): never {
    this.semanticAt = -1;
    this.syntacticSince ??= Date.now();
    if (Date.now() - this.syntacticSince < LASTING_MS)
      throw notReady('TypeScript to load the project');
    throw unavailable(
      'TypeScript looks at one file at a time here; add a tsconfig.json, or show a TypeScript document in a tab',
    );
  }

  private async request(
    command: string,
    document: vscode.TextDocument,
    position?: vscode.Position,
  ): Promise<Reply | undefined> {
    const place = position ? { line: position.line + 1, offset: position.character + 1 } : {};
    try {
      return await vscode.commands.executeCommand<Reply | undefined>(COMMAND, command, {
        file: document.uri,
        ...place,
      });
    } catch {
      throw notReady('TypeScript to start');
    }
  }
}

const KEYWORDS = new Set(
  (
    'import export from as type interface class const let var function return default async await new if else for ' +
    'while of in this null true false undefined extends implements static public private protected readonly'
  ).split(' '),
);

/** Places where there is something to say: the asked one first, then names of the document. */
function* probes(
  document: vscode.TextDocument,
  position: vscode.Position | undefined,
): Generator<vscode.Position> {
  if (position) yield position;
  const text = document.getText();
  let count = 0;
  for (const match of text.matchAll(/(?<![\w$.'"`/@-])[A-Za-z_$][\w$]+/g)) {
    if (KEYWORDS.has(match[0])) continue;
    yield document.positionAt(match.index);
    count += 1;
    if (count >= MAX_PROBES) return;
  }
}
