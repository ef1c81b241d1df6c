// The whole extension with a stand-in program as its child: a real process, a fake editor.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type * as vscode from 'vscode';
import { activate, deactivate } from '../src/extension';
import { commands, reset, Secrets, type world as World } from './fake/vscode';

interface Entry {
  type: string;
  [member: string]: unknown;
}

const KEY = 'mcpLspGateway.authTokens';

let world: typeof World;
let secrets: Secrets;
let log: string;
let program: string;

beforeEach(() => {
  world = reset();
  secrets = new Secrets();
  const folder = mkdtempSync(join(tmpdir(), 'sightline-'));
  log = join(folder, 'log');
  program = join(folder, 'sightline');
  chmodSync(resolve('test/fake/sightline.mjs'), 0o755);
  symlinkSync(resolve('test/fake/sightline.mjs'), program);
  process.env.SIGHTLINE_FAKE_LOG = log;
  process.env.VSCODE_IPC_HOOK_CLI = 'a socket';
  delete process.env.SIGHTLINE_FAKE;
  world.defaults = {
    'mcpLspGateway.enabled': true,
    'mcpLspGateway.port': 3939,
    'mcpLspGateway.secretStorageKey': KEY,
    'sightline.path': program,
    'sightline.families': ['lsp'],
  };
});

afterEach(async () => {
  await deactivate();
});

async function start(): Promise<void> {
  const context = { secrets, subscriptions: [], extension: { id: 'sightline.sightline' } };
  await activate(context as unknown as vscode.ExtensionContext);
}

const heard = (): Entry[] =>
  existsSync(log)
    ? readFileSync(log, 'utf8')
        .split('\n')
        .slice(0, -1) // what is behind the last line is still being written
        .map((line) => JSON.parse(line) as Entry)
    : [];

/** Looks until there is something; on a busy machine a program may take seconds to start. */
async function eventually<T>(look: () => T | undefined): Promise<T | undefined> {
  const limit = Date.now() + 60_000;
  let found = look();
  while (found === undefined && Date.now() < limit) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    found = look();
  }
  return found;
}

async function hears(type: string, count = 1): Promise<Entry> {
  const found = await eventually(() => heard().filter((entry) => entry.type === type)[count - 1]);
  assert.ok(found, `the program did not hear ${type}`);
  return found;
}

async function shows(text: RegExp): Promise<void> {
  await eventually(() => text.test(world.status.tooltip) || undefined);
  assert.match(world.status.tooltip, text);
}

async function logs(text: RegExp): Promise<string> {
  await eventually(() => text.test(world.output.join('\n')) || undefined);
  assert.match(world.output.join('\n'), text);
  return world.output.join('\n');
}

function isAlive(pid: unknown): boolean {
  try {
    process.kill(pid as number, 0);
    return true;
  } catch {
    return false;
  }
}

test('hello says everything, the environment and argv say nothing of it', async () => {
  await start();
  await shows(/serves this window on port 3939/);
  const began = await hears('start');
  assert.deepEqual(began.argv, ['serve', '--source', 'editor']);
  assert.ok(!(began.env as string[]).includes('VSCODE_IPC_HOOK_CLI'));
  const hello = await hears('hello');
  assert.deepEqual([hello.bridge, hello.roots, hello.trusted], [1, ['/ws'], true]);
  assert.deepEqual(hello.tokens, JSON.parse(secrets.held.get(KEY)!));
  assert.equal(world.status.text, '$(telescope) Sightline :3939');
});

test('off unless enabled; start and stop work without changing the setting', async () => {
  world.defaults['mcpLspGateway.enabled'] = false;
  await start();
  await shows(/off: mcpLspGateway.enabled is off/);
  assert.deepEqual(heard(), []);
  await commands.executeCommand('sightline.start');
  await shows(/serves/);
  const { pid } = await hears('start');
  await commands.executeCommand('sightline.stop');
  await hears('end');
  await shows(/off: stopped/);
  assert.equal(isAlive(pid), false);
});

test('never without trust; trust that comes starts nothing by itself before activation', async () => {
  world.trusted = false;
  await start();
  assert.deepEqual([heard(), world.status.text], [[], '']);
});

test('malformed secrets refuse to start, and rotating them starts', async () => {
  secrets.held.set(KEY, '["half');
  await start();
  await shows(/stored tokens are not as they should be/);
  assert.deepEqual(heard(), []);
  await commands.executeCommand('sightline.rotateTokens');
  await shows(/serves/);
});

test('rotation reaches the child at once, in a message', async () => {
  await start();
  const { tokens: before } = await hears('hello');
  await commands.executeCommand('sightline.rotateTokens');
  const { tokens: after } = await hears('tokens');
  assert.notDeepEqual(before, after);
  assert.deepEqual(after, JSON.parse(secrets.held.get(KEY)!));
  world.typed = 'one, two';
  await commands.executeCommand('mcpLspGateway.setBearerTokens');
  assert.deepEqual((await hears('tokens', 2)).tokens, ['one', 'two']);
});

test('secrets that vanish or break while serving close the door and end the child', async () => {
  await start();
  await hears('hello');
  await secrets.delete(KEY);
  assert.deepEqual((await hears('tokens')).tokens, []);
  await hears('end');
  await shows(/does not serve/);
});

test('folders are followed; without one the child ends, with one it comes back', async () => {
  await start();
  await hears('hello');
  world.folders = ['/ws', '/more'];
  world.foldersChanged.fire(undefined);
  assert.deepEqual((await hears('folders')).roots, ['/ws', '/more']);
  assert.equal(heard().filter((entry) => entry.type === 'start').length, 1);
  world.folders = [];
  world.foldersChanged.fire(undefined);
  await hears('end');
  await shows(/no folder is open/);
  world.folders = ['/more'];
  world.foldersChanged.fire(undefined);
  assert.deepEqual((await hears('hello', 2)).roots, ['/more']);
});

test('a changed setting starts the child anew; another extension’s is told as one', async () => {
  await start();
  await hears('hello');
  world.settings['mcpLspGateway.port'] = 4040;
  world.settingsChanged.fire({ affectsConfiguration: (section) => section === 'mcpLspGateway' });
  assert.equal(((await hears('hello', 2)).settings as { port: number }).port, 4040);
  await shows(/4040/);
  world.others.python = { analysis: { typeCheckingMode: 'strict' } };
  world.settingsChanged.fire({ affectsConfiguration: () => false });
  await hears('restarted');
});

test('what is reported as changed and is not, or decides no answer, is not told', async () => {
  world.others.python = { analysis: { typeCheckingMode: 'strict' } };
  await start();
  await hears('hello');
  world.settingsChanged.fire({ affectsConfiguration: () => false });
  world.extensionsChanged.fire(undefined);
  world.others.workbench = { colorTheme: 'Dark' };
  world.settingsChanged.fire({ affectsConfiguration: () => false });
  world.otherDefaults.chat = { agent: { maxRequests: 50 } }; // registered after the start
  world.others.tasks = {};
  world.settingsChanged.fire({ affectsConfiguration: () => false });
  world.others.python = { analysis: { typeCheckingMode: 'off' } };
  world.settingsChanged.fire({ affectsConfiguration: () => false });
  world.foldersChanged.fire(undefined);
  await hears('folders'); // and so everything that was told before
  assert.equal(heard().filter((entry) => entry.type === 'restarted').length, 1);
});

for (const [how, sentence] of [
  ['old', /too old for this extension/],
  ['newer', /too new for this extension/],
  ['taken', /port 3939 is taken/],
  ['junk', /not a message/],
] as const) {
  test(`a program that is no help is told: ${how}`, async () => {
    process.env.SIGHTLINE_FAKE = how;
    await start();
    await shows(sentence);
    const { pid } = await hears('start');
    assert.equal(isAlive(pid), false);
    const install = world.said[0]!.includes('pipx install --force .');
    assert.equal(install, how === 'old', 'only an older program is cured by installing one');
  });
}

test('no program: the one command that installs it is shown', async () => {
  world.settings['sightline.path'] = '/nowhere/sightline';
  await start();
  assert.match(
    world.said[0]!,
    /names no program.*In a clone of Sightline run: pipx install --force \.$/,
  );
});

test('a program that dies is started again, but not for ever', async () => {
  process.env.SIGHTLINE_FAKE = 'dies';
  await start();
  await shows(/ended several times/);
  assert.equal(heard().filter((entry) => entry.type === 'start').length, 4);
});

test('the output channel shows the log without what is secret', async () => {
  await start();
  await shows(/serves/);
  const output = await logs(/"event":"started"/);
  assert.doesNotMatch(output, /abc/);
  for (const token of JSON.parse(secrets.held.get(KEY)!) as string[])
    assert.ok(!output.includes(token));
});

test('the stanzas are copied with the token', async () => {
  await start();
  const [token] = JSON.parse(secrets.held.get(KEY)!) as string[];
  await commands.executeCommand('mcpLspGateway.copyCodexConfigToml');
  assert.match(world.clipboard, /^\[mcp_servers\.sightline\]/);
  assert.ok(world.clipboard.includes(token!));
  world.picked = 'Gemini CLI';
  await commands.executeCommand('sightline.copyStanza');
  assert.match(world.clipboard, /"httpUrl"/);
  world.picked = { command: 'sightline.stop' };
  await commands.executeCommand('sightline.showStatus');
  await hears('end');
});

test('the editor’s own agent finds the server, and its token only when it is used', async () => {
  await start();
  await shows(/serves/);
  const provider = world.mcp as vscode.McpServerDefinitionProvider<vscode.McpHttpServerDefinition>;
  const token = {} as vscode.CancellationToken;
  const [server] = (await provider.provideMcpServerDefinitions(token)) ?? [];
  assert.deepEqual([server!.uri.toString(), server!.headers], ['http://127.0.0.1:3939/mcp', {}]);
  const resolved = await provider.resolveMcpServerDefinition!(server!, token);
  const [held] = JSON.parse(secrets.held.get(KEY)!) as string[];
  assert.deepEqual(resolved!.headers, {
    'MCP-Protocol-Version': '2025-11-25',
    Authorization: `Bearer ${held}`,
  });
  await commands.executeCommand('sightline.stop');
  assert.deepEqual(await provider.provideMcpServerDefinitions(token), []);
});
