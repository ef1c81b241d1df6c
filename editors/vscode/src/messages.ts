// The messages of the bridge, version 1, as docs/bridge.md describes them.

export const BRIDGE = 1;
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface Location {
  uri: string;
  range: Range;
}

// From the extension

export interface Hello {
  type: 'hello';
  bridge: number;
  tokens: string[];
  roots: string[];
  trusted: boolean;
  settings: Record<string, unknown>;
  editor: string;
  identity: string;
  acceptUnproven: boolean;
}

export interface FileChange {
  uri: string;
  kind: 1 | 2 | 3;
  at: number;
}

export type FailureKind = 'notReady' | 'unavailable' | 'notFound' | 'tooMany' | 'internal';

export type ToChild =
  | Hello
  | { type: 'answer'; id: number; result: unknown }
  | { type: 'failed'; id: number; kind: FailureKind; reason: string }
  | { type: 'text'; uri: string }
  | { type: 'files'; changes: FileChange[] }
  | { type: 'diagnostics'; uris: string[] }
  | { type: 'folders'; roots: string[] }
  | { type: 'trust'; trusted: boolean }
  | { type: 'tokens'; tokens: string[] }
  | { type: 'restarted'; identity: string };

// From the child

export type Ask =
  | 'sync'
  | 'prepare'
  | 'unwatched'
  | 'definition'
  | 'references'
  | 'hover'
  | 'documentSymbols'
  | 'workspaceSymbols'
  | 'documentDiagnostics'
  | 'workspaceDiagnostics';

export interface Question {
  type: 'question';
  id: number;
  ask: Ask;
  uri?: string;
  position?: Position;
  query?: string;
  uris?: string[];
}

export type FromChild =
  | { type: 'welcome'; bridge: number; version: string }
  | { type: 'ready'; port: number; warnings?: string[] }
  | { type: 'refused'; code: string; reason: string }
  | Question
  | { type: 'cancel'; id: number };

// What questions are answered with

export interface OpenDocument {
  uri: string;
  open: boolean;
  dirty?: boolean;
  digest?: string;
  text?: string | null;
}

/** What every answer about a document says of the one who gave it. */
export interface Told {
  language: string;
  loaded: boolean;
}

export interface EditorSymbol {
  name: string;
  kind: number;
  range: Range;
  selectionRange?: Range;
  containerName?: string;
  children?: EditorSymbol[];
  uri?: string;
}

export interface EditorDiagnostic {
  range: Range;
  message: string;
  severity?: number;
  code?: string;
  source?: string;
}

/** A question that ends without an answer, for a reason the child can pass on. */
export class Failed extends Error {
  constructor(
    readonly kind: FailureKind,
    reason: string,
  ) {
    super(reason);
  }
}

export const notReady = (reason: string): Failed => new Failed('notReady', reason);
export const unavailable = (reason: string): Failed => new Failed('unavailable', reason);
