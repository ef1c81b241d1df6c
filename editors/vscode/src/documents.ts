// What the window's documents are: which changed since the child last asked, and their texts.
import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import { MAX_MESSAGE_BYTES, type OpenDocument, type ToChild } from './messages';
import { isServed } from './roots';
import { speaksTypeScript } from './typescript';

/** A text is sent whole or not at all; the rest of the message needs room too. */
const MAX_TEXT_CHARS = MAX_MESSAGE_BYTES / 8;
const MAX_SYNC_CHARS = MAX_MESSAGE_BYTES / 4;

export class Documents implements vscode.Disposable {
  private readonly changed = new Set<string>();
  private readonly subscriptions: vscode.Disposable[];
  /** Rises with everything after which TypeScript may begin to load a project. */
  turns = 0;

  constructor(
    private roots: readonly string[],
    private readonly say: (message: ToChild) => void,
  ) {
    const note = (document: vscode.TextDocument): void => {
      if (isServed(document.uri, this.roots)) this.changed.add(document.uri.toString());
    };
    this.subscriptions = [
      vscode.workspace.onDidOpenTextDocument((document) => {
        note(document);
        if (speaksTypeScript(document.languageId)) this.turns += 1;
      }),
      vscode.workspace.onDidCloseTextDocument(note),
      vscode.workspace.onDidSaveTextDocument(note),
      vscode.workspace.onDidChangeTextDocument((event) => {
        if (!isServed(event.document.uri, this.roots)) return;
        note(event.document);
        // The editor also reports when only the dirty mark changed: that is no change of text.
        if (event.contentChanges.length > 0) {
          this.say({ type: 'text', uri: event.document.uri.toString() });
        }
      }),
    ];
    this.follow(roots);
  }

  /** Other folders: every document is told of again. */
  follow(roots: readonly string[]): void {
    this.roots = roots;
    this.changed.clear();
    for (const document of vscode.workspace.textDocuments) {
      if (isServed(document.uri, roots)) this.changed.add(document.uri.toString());
    }
  }

  /** The documents that were opened, changed, saved or closed since the last time. */
  sync(): OpenDocument[] {
    const open = new Map(vscode.workspace.textDocuments.map((d) => [d.uri.toString(), d]));
    let room = MAX_SYNC_CHARS;
    const told: OpenDocument[] = [];
    for (const uri of this.changed) {
      const document = open.get(uri);
      if (!document || document.isClosed) {
        told.push({ uri, open: false });
        continue;
      }
      const text = document.getText();
      const row: OpenDocument = { uri, open: true, dirty: document.isDirty, digest: digest(text) };
      if (document.isDirty) {
        const fits = text.length <= MAX_TEXT_CHARS && text.length <= room;
        if (fits) room -= text.length;
        row.text = fits ? text : null;
      }
      told.push(row);
    }
    this.changed.clear();
    return told;
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }
}

/** SHA-256 of a text with line ends as \n and without a byte-order mark. */
export function digest(text: string): string {
  const plain = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  return createHash('sha256').update(plain, 'utf8').digest('hex');
}
