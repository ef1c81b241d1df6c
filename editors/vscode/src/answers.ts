// The seven questions, put to the window's language extensions.
//
// Documents are opened where an extension needs it, never shown: no tab comes, no focus goes. An answer
// is passed on only with what is known about the one who gave it; the child decides what that is worth.
import * as vscode from 'vscode';
import { documentSymbolOf, hoverContentsOf, locationOf, workspaceSymbolOf } from './convert';
import type { Diagnostics } from './diagnostics';
import type { Documents } from './documents';
import { unwatched } from './files';
import { Failed, notReady, type Position, type Question, type Told } from './messages';
import {
  isTypeScriptFile,
  MAX_SYMBOLS,
  speaksTypeScript,
  isInstalled,
  type TypeScript,
} from './typescript';

const TRIES = 5;

export interface Window {
  documents: Documents;
  diagnostics: Diagnostics;
  typescript: TypeScript;
  /** The id of this extension, which answers for no language. */
  self: string;
}

/** The answer to one question. Throws `Failed` where there is none. */
export async function answer(
  window: Window,
  question: Question,
  signal: AbortSignal,
): Promise<unknown> {
  switch (question.ask) {
    case 'sync':
      return { documents: window.documents.sync() };
    case 'unwatched':
      return { uris: unwatched(question.uris ?? []) };
    case 'prepare':
      return prepare(window, question.uris ?? []);
    case 'definition':
      return located(window, question, 'vscode.executeDefinitionProvider');
    case 'references':
      return located(window, question, 'vscode.executeReferenceProvider');
    case 'hover':
      return about(window, question, async (document, position) => {
        const found = await execute<vscode.Hover[]>(
          'vscode.executeHoverProvider',
          document.uri,
          position,
        );
        return hoverContentsOf(found ?? []);
      });
    case 'documentSymbols':
      return documentSymbols(question);
    case 'workspaceSymbols':
      return { symbols: await workspaceSymbols(question.query ?? '') };
    case 'documentDiagnostics':
      return window.diagnostics.ofDocument(await open(question), signal);
    case 'workspaceDiagnostics':
      return window.diagnostics.ofWorkspace(signal);
    default:
      throw new Failed('internal', 'an unknown question');
  }
}

async function located(window: Window, question: Question, command: string): Promise<unknown> {
  return about(window, question, async (document, position) => {
    const found = await execute<(vscode.Location | vscode.LocationLink)[]>(
      command,
      document.uri,
      position,
    );
    return { locations: (found ?? []).map(locationOf) };
  });
}

/** Asks at a place, again if meanwhile something happened after which a project is loaded again. */
async function about<T extends object>(
  window: Window,
  question: Question,
  ask: (document: vscode.TextDocument, position: vscode.Position) => Promise<T>,
): Promise<T & Told> {
  const document = await open(question);
  const position = place(question.position);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { typescript } = window;
    if (speaksTypeScript(document.languageId) && typescript.isKnown()) {
      // The check and the question reach the same server in this order: what it says holds for both.
      const proofs = typescript.proofs;
      const [told, found] = await Promise.all([
        load(window, document, position),
        ask(document, position),
      ]);
      if (typescript.isKnown() && typescript.proofs === proofs) return { ...told, ...found };
      continue;
    }
    const told = await load(window, document, position);
    const turn = window.documents.turns;
    const found = await ask(document, position);
    if (!told.loaded || window.documents.turns === turn) return { ...told, ...found };
  }
  throw notReady('the window to stay unchanged during a question');
}

async function load(
  window: Window,
  document: vscode.TextDocument,
  position?: vscode.Position,
): Promise<Told> {
  const language = document.languageId;
  const loaded = speaksTypeScript(language) && (await window.typescript.load(document, position));
  return { language, loaded };
}

async function documentSymbols(question: Question): Promise<unknown> {
  const document = await open(question);
  const found = await execute<(vscode.DocumentSymbol | vscode.SymbolInformation)[]>(
    'vscode.executeDocumentSymbolProvider',
    document.uri,
  );
  const symbols = (found ?? []).map(documentSymbolOf);
  // The outline of one text needs no project, but an empty one needs somebody to have looked.
  const loaded = speaksTypeScript(document.languageId) && isInstalled();
  return { language: document.languageId, loaded, symbols };
}

async function workspaceSymbols(query: string): Promise<unknown[]> {
  const found =
    (await execute<vscode.SymbolInformation[]>('vscode.executeWorkspaceSymbolProvider', query)) ??
    [];
  const cut = found.filter((symbol) => isTypeScriptFile(symbol.location.uri)).length >= MAX_SYMBOLS;
  if (cut)
    throw new Failed(
      'tooMany',
      `TypeScript names ${MAX_SYMBOLS} symbols at most; use a longer query`,
    );
  return found.map(workspaceSymbolOf);
}

async function prepare(window: Window, uris: readonly string[]): Promise<unknown> {
  let told: Told = { language: '', loaded: false };
  for (const uri of uris) told = await load(window, await open({ uri }));
  return { ...told, extension: extensionFor(told.language, window.self) };
}

/** Whether an extension with code of its own says that it is there for a language. */
export function extensionFor(language: string, self: string): 'none' | 'inactive' | 'active' {
  const there = vscode.extensions.all.filter((extension) => {
    const manifest = extension.packageJSON as {
      main?: string;
      browser?: string;
      activationEvents?: string[];
      contributes?: { languages?: { id?: string }[] };
    };
    const waits = (manifest.activationEvents ?? []).some(
      (event) => event === `onLanguage:${language}` || event === 'onLanguage',
    );
    const declares = (manifest.contributes?.languages ?? []).some((one) => one.id === language);
    return (manifest.main ?? manifest.browser) && extension.id !== self && (waits || declares);
  });
  if (there.length === 0) return 'none';
  return there.some((extension) => extension.isActive) ? 'active' : 'inactive';
}

async function open(question: { uri?: string }): Promise<vscode.TextDocument> {
  try {
    return await vscode.workspace.openTextDocument(vscode.Uri.parse(question.uri ?? '', true));
  } catch {
    throw new Failed('notFound', 'the editor cannot open the document');
  }
}

function place(position: Position | undefined): vscode.Position {
  return new vscode.Position(position?.line ?? 0, position?.character ?? 0);
}

async function execute<T>(command: string, ...rest: unknown[]): Promise<T | undefined> {
  try {
    return await vscode.commands.executeCommand<T | undefined>(command, ...rest);
  } catch {
    throw notReady('a language extension that failed'); // its text may hold paths; it stays here
  }
}
