// Finding the sightline program and starting it as a child that sees little of this process.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import * as path from 'node:path';
import { isUnder } from './roots';

/** The one command that installs the program, or a newer one, in a clone of the project. */
export const INSTALL = 'pipx install --force .';

const NAMES = process.platform === 'win32' ? ['sightline.exe', 'sightline.cmd'] : ['sightline'];
/** What a child may see: where its folders and programs are. Everything else stays in this window. */
const SHOWN =
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|XDG_\w+_HOME|XDG_RUNTIME_DIR|SIGHTLINE_\w+)$/;
/** Without these a program does not start on Windows, or does not find its user. */
const SHOWN_ON_WINDOWS =
  /^(?:PATH|PATHEXT|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|USERPROFILE|USERNAME|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|PROGRAMDATA)$/i;

export class NoProgram extends Error {}

/**
 * The program to start: the one of the machine's setting, else the first on the PATH. A program that lies
 * in a folder of the window is never started: a cloned repository must not run code.
 */
export function findProgram(
  setting: string,
  environment: NodeJS.ProcessEnv,
  folders: readonly string[],
): string {
  const chosen = setting.trim();
  if (chosen !== '') {
    if (!path.isAbsolute(chosen)) throw new NoProgram('sightline.path must be an absolute path');
    if (!isProgram(chosen)) throw new NoProgram('sightline.path names no program');
    if (isInside(chosen, folders))
      throw new NoProgram('sightline.path lies in a folder of this window');
    return chosen;
  }
  for (const folder of (environment.PATH ?? '').split(path.delimiter)) {
    if (!path.isAbsolute(folder)) continue;
    for (const name of NAMES) {
      const candidate = path.join(folder, name);
      if (isProgram(candidate) && !isInside(candidate, folders)) return candidate;
    }
  }
  throw new NoProgram('the sightline program is not on the PATH');
}

export function childEnvironment(own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const shown = (name: string): boolean =>
    SHOWN.test(name) || (process.platform === 'win32' && SHOWN_ON_WINDOWS.test(name));
  return Object.fromEntries(Object.entries(own).filter(([name]) => shown(name)));
}

export function start(
  program: string,
  environment: NodeJS.ProcessEnv,
): ChildProcessWithoutNullStreams {
  return spawn(program, ['serve', '--source', 'editor'], {
    cwd: homedir(),
    env: childEnvironment(environment),
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  });
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function isInside(file: string, folders: readonly string[]): boolean {
  const real = realpathSync(file);
  return folders.some((folder) => {
    try {
      return isUnder(real, realpathSync(folder)) || isUnder(file, folder);
    } catch {
      return false;
    }
  });
}
