import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type * as vscode from 'vscode';
import {
  codeOf,
  diagnosticOf,
  documentSymbolOf,
  hoverContentsOf,
  locationOf,
  workspaceSymbolOf,
} from '../src/convert';
import { childEnvironment, findProgram } from '../src/program';
import { redact } from '../src/redact';
import { isUnder } from '../src/roots';
import { CLIENTS, stanza } from '../src/stanzas';
import { newToken, parseTokens, splitTokens, Tokens } from '../src/tokens';
import { Location, Range, Secrets, Uri } from './fake/vscode';

const range = new Range(1, 2, 3, 4);
const plain = { start: { line: 1, character: 2 }, end: { line: 3, character: 4 } };
const uri = Uri.file('/ws/a b.ts');

test('places: a location is itself, a link is what it selects', () => {
  const wide = new Range(0, 0, 9, 0);
  const locations = [
    new Location(uri, range),
    { targetUri: uri, targetRange: wide, targetSelectionRange: range },
    { targetUri: uri, targetRange: range },
  ] as unknown as vscode.Location[];
  for (const one of locations)
    assert.deepEqual(locationOf(one), { uri: 'file:///ws/a%20b.ts', range: plain });
});

test('kinds and severities count from 1', () => {
  const child = { name: 'in', kind: 5, range, selectionRange: range, children: [] };
  const tree = { name: 'out', kind: 4, range, selectionRange: range, children: [child] };
  const found = documentSymbolOf(tree as unknown as vscode.DocumentSymbol);
  assert.deepEqual([found.kind, found.children?.[0]?.kind], [5, 6]);
  const flat = { name: 'f', kind: 11, containerName: 'C', location: new Location(uri, range) };
  const symbol = workspaceSymbolOf(flat as unknown as vscode.SymbolInformation);
  assert.deepEqual(symbol, {
    name: 'f',
    kind: 12,
    containerName: 'C',
    range: plain,
    uri: 'file:///ws/a%20b.ts',
  });
  const warning = { range, message: 'm', severity: 1, code: 7, source: 's' };
  assert.deepEqual(diagnosticOf(warning as unknown as vscode.Diagnostic), {
    range: plain,
    message: 'm',
    severity: 2,
    code: '7',
    source: 's',
  });
});

test('a symbol without a place is refused', () => {
  const nowhere = { name: 'f', kind: 11, location: { uri } };
  assert.throws(
    () => workspaceSymbolOf(nowhere as unknown as vscode.SymbolInformation),
    /without a place/,
  );
});

test('codes are texts', () => {
  const target = Uri.file('/x') as unknown as vscode.Uri;
  assert.deepEqual(
    [
      codeOf('a'),
      codeOf(0),
      codeOf(''),
      codeOf(undefined),
      codeOf({ value: 12, target }),
      codeOf(NaN),
    ],
    ['a', '0', undefined, undefined, '12', undefined],
  );
});

test('hover: every form is markdown, the first place is its range', () => {
  const hovers = [
    { contents: ['bare', { language: 'ts', value: 'let x' }], range: new Range(5, 0, 5, 1) },
    { contents: [{ value: '**mark**' }, { language: ' ', value: 'raw' }], range },
    { contents: [] },
  ];
  assert.deepEqual(hoverContentsOf(hovers as unknown as vscode.Hover[]), {
    contents: [
      { kind: 'markdown', value: 'bare' },
      { kind: 'markdown', value: '```ts\nlet x\n```' },
      { kind: 'markdown', value: '**mark**' },
      { kind: 'markdown', value: 'raw' },
    ],
    range: plain,
  });
});

test('tokens: an array of strings or nothing', () => {
  assert.deepEqual(parseTokens('[" a ","b","a",""]'), ['a', 'b']);
  for (const bad of [
    '',
    'abc',
    '{}',
    '"a"',
    '[1]',
    '["a",null]',
    JSON.stringify(Array.from({ length: 33 }, (_, i) => `t${i}`)),
  ]) {
    assert.throws(() => parseTokens(bad), /not as they should be/);
  }
  assert.deepEqual(splitTokens(' a, b\n c,,a '), ['a', 'b', 'c']);
  assert.match(newToken(), /^[A-Za-z0-9_-]{43}$/);
});

test('tokens: a first one is made and kept; what is malformed is not replaced behind your back', async () => {
  const secrets = new Secrets();
  const tokens = new Tokens(secrets, () => 'key');
  const [first] = await tokens.provide();
  assert.deepEqual(await tokens.provide(), [first]);
  secrets.held.set('key', '{"broken":');
  await assert.rejects(tokens.provide(), /not as they should be/);
  assert.equal(secrets.held.get('key'), '{"broken":');
});

test('stanzas hold the address and the token in the form of each client', () => {
  const texts = CLIENTS.map((client) => stanza(client, 'http://127.0.0.1:3939/mcp', 'TOKEN'));
  for (const text of texts) {
    assert.match(text, /http:\/\/127\.0\.0\.1:3939\/mcp/);
    assert.match(text, /Bearer TOKEN/);
  }
  assert.match(texts[0]!, /^\[mcp_servers\.sightline\]\nurl = "http/);
  const server = (text: string): Record<string, unknown> =>
    (JSON.parse(text) as { mcpServers: { sightline: Record<string, unknown> } }).mcpServers
      .sightline;
  assert.deepEqual(Object.keys(server(texts[2]!)), ['httpUrl', 'headers']);
  assert.deepEqual(Object.keys(server(texts[3]!)), ['type', 'url', 'headers']);
  assert.deepEqual(server(texts[2]!).headers, server(texts[3]!).headers);
  assert.deepEqual(server(texts[3]!).headers, {
    Authorization: 'Bearer TOKEN',
    'MCP-Protocol-Version': '2025-11-25',
  });
  assert.equal(texts[1], texts[3]);
});

test('the output channel gets no secret, no folder and no second line', () => {
  const token = newToken();
  const clean = redact(`Bearer short ${token} x=/home/me/project/a.py\n{"t":"${token}"} secret`, [
    'secret',
  ]);
  for (const leak of ['short', token, '/home', 'project', 'secret', '\n'])
    assert.ok(!clean.includes(leak), leak);
  assert.ok(clean.includes('a.py'));
  assert.ok(redact('x y '.repeat(5_000)).length <= 2_048);
});

test('folders contain themselves and what is below, nothing beside', () => {
  assert.deepEqual(
    [
      isUnder('/ws', '/ws'),
      isUnder('/ws/a/b', '/ws'),
      isUnder('/ws2/a', '/ws'),
      isUnder('/', '/ws'),
      isUnder('/ws/..x', '/ws'),
    ],
    [true, true, false, false, true],
  );
});

test('the child sees nothing with which it could reach the window', () => {
  const own = {
    PATH: '/bin',
    HOME: '/home/me',
    LANG: 'C',
    VSCODE_IPC_HOOK_CLI: 's',
    vscode_pid: '1',
    ELECTRON_RUN_AS_NODE: '1',
    CODE_SERVER_SESSION_SOCKET: 's',
    NODE_OPTIONS: '--inspect',
    PYTHONPATH: '/ws',
    LD_PRELOAD: '/ws/x.so',
    SOME_API_KEY: 'secret',
    XDG_DATA_HOME: '/home/me/data',
  };
  assert.deepEqual(childEnvironment(own), {
    PATH: '/bin',
    HOME: '/home/me',
    LANG: 'C',
    XDG_DATA_HOME: '/home/me/data',
  });
});

test('the program is the one of the setting, else of the PATH, never one of the window', () => {
  const top = mkdtempSync(join(tmpdir(), 'sightline-'));
  for (const folder of ['ws', 'bin', 'plain']) {
    mkdirSync(join(top, folder));
    writeFileSync(join(top, folder, 'sightline'), '', { mode: folder === 'plain' ? 0o600 : 0o700 });
  }
  mkdirSync(join(top, 'links'));
  symlinkSync(join(top, 'ws', 'sightline'), join(top, 'links', 'sightline'));
  const folders = [join(top, 'ws')];
  const search = (...names: string[]): string => names.map((name) => join(top, name)).join(':');
  const wanted = join(top, 'bin', 'sightline');
  assert.equal(
    findProgram('', { PATH: `.:${search('ws', 'links', 'plain', 'none', 'bin')}` }, folders),
    wanted,
  );
  assert.equal(findProgram(` ${wanted} `, {}, folders), wanted);
  assert.throws(() => findProgram('', { PATH: search('ws', 'links') }, folders), /not on the PATH/);
  assert.throws(() => findProgram('sightline', { PATH: search('bin') }, folders), /absolute/);
  assert.throws(() => findProgram(join(top, 'none'), {}, folders), /no program/);
  assert.throws(
    () => findProgram(join(top, 'ws', 'sightline'), {}, folders),
    /folder of this window/,
  );
});
