// Which folders are served, and what lies in them.
import * as path from 'node:path';
import * as vscode from 'vscode';

/** The folders of the window that are on this machine. */
export function folders(): string[] {
  return (vscode.workspace.workspaceFolders ?? [])
    .filter((folder) => folder.uri.scheme === 'file')
    .map((folder) => folder.uri.fsPath);
}

export function isUnder(file: string, folder: string): boolean {
  const relative = path.relative(folder, file);
  const above = relative === '..' || relative.startsWith('..' + path.sep);
  return !above && !path.isAbsolute(relative);
}

/** Whether a document can be asked about: a file in one of the folders. */
export function isServed(uri: vscode.Uri, roots: readonly string[]): boolean {
  return uri.scheme === 'file' && roots.some((root) => isUnder(uri.fsPath, root));
}
