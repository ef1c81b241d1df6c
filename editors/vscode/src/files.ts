// Changes on disk, told to the child once the window's language extensions have been told.
//
// The editor's watcher tells all extensions at once, but the TypeScript extension passes the news on
// after 100 ms and clients of language servers after 250 ms without further news. Timers of one process
// run in order, so 300 ms without news means that everybody has passed everything on.
import * as vscode from 'vscode';
import type { FileChange, ToChild } from './messages';
import { folders, isUnder } from './roots';

export const PASSED_ON_MS = 300;
const MAX_CHANGES = 5_000;

export class Files implements vscode.Disposable {
  private readonly news = new Map<string, FileChange>();
  private watchers: vscode.Disposable[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    roots: readonly string[],
    private readonly say: (message: ToChild) => void,
    private readonly noticed: (uri: vscode.Uri) => void,
  ) {
    this.follow(roots);
  }

  follow(roots: readonly string[]): void {
    for (const watcher of this.watchers) watcher.dispose();
    const inside = folders();
    const outside = roots.filter((root) => !inside.some((folder) => isUnder(root, folder)));
    const patterns = [
      '**/*',
      ...outside.map((root) => new vscode.RelativePattern(vscode.Uri.file(root), '**/*')),
    ];
    this.watchers = patterns.map((pattern) => {
      const watcher = vscode.workspace.createFileSystemWatcher(pattern);
      watcher.onDidCreate((uri) => {
        this.note(uri, 1);
      });
      watcher.onDidChange((uri) => {
        this.note(uri, 2);
      });
      watcher.onDidDelete((uri) => {
        this.note(uri, 3);
      });
      return watcher;
    });
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const watcher of this.watchers) watcher.dispose();
  }

  private note(uri: vscode.Uri, kind: 1 | 2 | 3): void {
    if (uri.scheme !== 'file') return;
    this.noticed(uri);
    this.news.set(uri.toString(), { uri: uri.toString(), kind, at: Date.now() });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.passOn();
    }, PASSED_ON_MS);
  }

  private passOn(): void {
    const changes = [...this.news.values()];
    this.news.clear();
    for (let start = 0; start < changes.length; start += MAX_CHANGES) {
      this.say({ type: 'files', changes: changes.slice(start, start + MAX_CHANGES) });
    }
  }
}

/** Those files that the user told the editor not to watch. */
export function unwatched(uris: readonly string[]): string[] {
  const excluded = vscode.workspace
    .getConfiguration('files')
    .get<Record<string, boolean>>('watcherExclude', {});
  const patterns = Object.keys(excluded).filter((pattern) => excluded[pattern] === true);
  return uris.filter((uri) => {
    // Matching looks at the uri alone, so a stand-in will do for a document that is not open.
    const document = { uri: vscode.Uri.parse(uri, true), languageId: '' } as vscode.TextDocument;
    return patterns.some((pattern) => vscode.languages.match({ pattern }, document) > 0);
  });
}
