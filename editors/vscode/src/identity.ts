// What else than the workspace decides the answers: who answers, and what people have set. The editor
// registers settings of its own with their defaults until long after it started; a child that took
// those for a change would forget what it retained.
import { createHash } from 'node:crypto';
import * as vscode from 'vscode';

/** Our own settings start the child anew; how the window looks decides no answer. */
const OTHER_SECTIONS = new Set(['mcpLspGateway', 'sightline', 'window', 'workbench']);

/** The versions of the editor and its extensions, and the values set in every folder. */
export function identity(): string {
  const versions = vscode.extensions.all
    .map((one) => `${one.id}@${String((one.packageJSON as { version?: string }).version)}`)
    .sort();
  const settings = (vscode.workspace.workspaceFolders ?? []).map((folder) =>
    JSON.stringify(setIn(folder.uri)),
  );
  return createHash('sha256')
    .update([vscode.version, ...versions, ...settings].join('\n'))
    .digest('hex')
    .slice(0, 16);
}

/** The values that somebody set, by section. The others are defaults, which the versions decide. */
function setIn(folder: vscode.Uri): [string, string[]][] {
  const settings = vscode.workspace.getConfiguration(undefined, folder);
  const found: [string, string[]][] = [];
  for (const section of Object.keys(settings).sort()) {
    if (OTHER_SECTIONS.has(section)) continue;
    const told = settings.inspect(section);
    const values = [told?.globalValue, told?.workspaceValue, told?.workspaceFolderValue].map(
      (value) => (value === undefined ? '' : JSON.stringify(value)),
    );
    // A file that is read and sets nothing, such as one of tasks, is an empty object.
    if (values.some((value) => value !== '' && value !== '{}')) found.push([section, values]);
  }
  return found;
}
