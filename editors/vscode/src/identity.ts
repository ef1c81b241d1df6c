// What else than the workspace decides the answers. The editor reports a change of settings also when
// none changed, as it does while it starts; a child that believed it would forget what it retained.
import { createHash } from 'node:crypto';
import * as vscode from 'vscode';

/** Our own settings start the child anew; how the window looks decides no answer. */
const OTHER_SECTIONS = new Set(['mcpLspGateway', 'sightline', 'window', 'workbench']);

/** The versions of the editor and its extensions, and the settings in every folder. */
export function identity(): string {
  const versions = vscode.extensions.all
    .map((one) => `${one.id}@${String((one.packageJSON as { version?: string }).version)}`)
    .sort();
  const settings = (vscode.workspace.workspaceFolders ?? []).map((folder) =>
    JSON.stringify(settingsOf(folder.uri)),
  );
  return createHash('sha256')
    .update([vscode.version, ...versions, ...settings].join('\n'))
    .digest('hex')
    .slice(0, 16);
}

function settingsOf(folder: vscode.Uri): [string, unknown][] {
  return Object.entries(vscode.workspace.getConfiguration(undefined, folder))
    .filter(([section]) => !OTHER_SECTIONS.has(section))
    .sort(([one], [other]) => (one < other ? -1 : 1));
}
