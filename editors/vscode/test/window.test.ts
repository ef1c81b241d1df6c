import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type * as vscode from 'vscode';
import { answer, extensionFor, type Window } from '../src/answers';
import { Diagnostics, QUIET_MS } from '../src/diagnostics';
import { digest, Documents } from '../src/documents';
import { Files, PASSED_ON_MS, unwatched } from '../src/files';
import type { Ask, Question, ToChild } from '../src/messages';
import { TypeScript } from '../src/typescript';
import {
  Document,
  Location,
  Range,
  reset,
  TabInputText,
  Uri,
  type world as World,
} from './fake/vscode';

type Reply = Record<string, unknown>;

let world: typeof World;
let said: ToChild[];
const say = (message: ToChild): boolean => {
  said.push(message);
  return true;
};

beforeEach(() => {
  world = reset();
  said = [];
});

function open(path: string, language = 'typescript', text = 'const value = 1;\n'): Document {
  const document = new Document(Uri.file(path), language, text);
  world.documents.push(document);
  world.opened.fire(document);
  return document;
}

function edit(document: Document, text: string, changes = 1): void {
  document.text = text;
  document.isDirty = true;
  world.edited.fire({ document, contentChanges: Array(changes).fill({}) });
}

// Documents

test('text: changes of the dirty mark alone are not reported, nor documents elsewhere', () => {
  const documents = new Documents(['/ws'], say);
  const inside = open('/ws/a.ts');
  const outside = open('/else/b.ts');
  edit(inside, 'x', 0);
  edit(outside, 'x');
  assert.deepEqual(said, []);
  edit(inside, 'y');
  assert.deepEqual(said, [{ type: 'text', uri: 'file:///ws/a.ts' }]);
  documents.dispose();
  assert.equal(world.edited.count, 0);
});

test('sync: what changed since the last time, texts of dirty documents only', () => {
  const a = open('/ws/a.ts', 'typescript', 'one\r\n');
  const documents = new Documents(['/ws'], say);
  assert.deepEqual(documents.sync(), [
    { uri: 'file:///ws/a.ts', open: true, dirty: false, digest: digest('one\n') },
  ]);
  assert.deepEqual(documents.sync(), []);
  edit(a, 'two\n');
  assert.deepEqual(documents.sync(), [
    { uri: 'file:///ws/a.ts', open: true, dirty: true, digest: digest('two\n'), text: 'two\n' },
  ]);
  a.isDirty = false;
  world.saved.fire(a);
  assert.deepEqual(documents.sync(), [
    { uri: 'file:///ws/a.ts', open: true, dirty: false, digest: digest('two\n') },
  ]);
  a.isClosed = true;
  world.closed.fire(a);
  assert.deepEqual(documents.sync(), [{ uri: 'file:///ws/a.ts', open: false }]);
});

test('sync: a text that does not fit is told as one', () => {
  const documents = new Documents(['/ws'], say);
  edit(open('/ws/a.ts'), 'x'.repeat(3 << 20));
  const [row] = documents.sync();
  assert.deepEqual([row?.dirty, row?.text], [true, null]);
});

test('sync: other folders tell everything again', () => {
  open('/ws/a.ts');
  open('/more/b.ts');
  const documents = new Documents(['/ws'], say);
  documents.sync();
  documents.follow(['/ws', '/more']);
  assert.deepEqual(
    documents.sync().map((row) => row.uri),
    ['file:///ws/a.ts', 'file:///more/b.ts'],
  );
});

test('the digest knows no line ends and no byte-order mark', () => {
  assert.equal(digest('\ufeffa\r\nb\rc\n'), digest('a\nb\nc\n'));
  assert.equal(digest(''), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});

// Files

test('files: told after everybody has passed the news on, each with its own time', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000 });
  const noticed: string[] = [];
  const files = new Files(['/ws'], say, (uri) => noticed.push(uri.path));
  const [watcher] = world.watchers;
  watcher!.created.fire(Uri.file('/ws/a.ts'));
  t.mock.timers.tick(PASSED_ON_MS - 1);
  watcher!.changedEvent.fire(Uri.file('/ws/b.ts'));
  watcher!.deleted.fire(new Uri('untitled', '/ws/c.ts'));
  t.mock.timers.tick(PASSED_ON_MS - 1);
  assert.deepEqual(said, []);
  t.mock.timers.tick(1);
  assert.deepEqual(said, [
    {
      type: 'files',
      changes: [
        { uri: 'file:///ws/a.ts', kind: 1, at: 1_000 },
        { uri: 'file:///ws/b.ts', kind: 2, at: 1_299 },
      ],
    },
  ]);
  assert.deepEqual(noticed, ['/ws/a.ts', '/ws/b.ts']);
  files.dispose();
  assert.ok(watcher!.disposed);
});

test('files: additional folders have a watcher of their own', () => {
  new Files(['/ws', '/ws/sub', '/more'], say, () => undefined);
  assert.deepEqual(
    world.watchers.map((one) => (typeof one.pattern === 'string' ? one.pattern : 'relative')),
    ['**/*', 'relative'],
  );
});

test('files: what the user does not let the editor watch', () => {
  world.settings['files.watcherExclude'] = { '**/target/**': true, '**/kept/**': false };
  const uris = ['file:///ws/target/x.o', 'file:///ws/kept/y', 'file:///ws/z'];
  assert.deepEqual(unwatched(uris), [uris[0]]);
});

// TypeScript

const BUILT_IN = 'vscode.typescript-language-features';

function typescript(script: (command: string) => Reply | undefined): {
  ts: TypeScript;
  asked: string[];
  turn: { now: number };
} {
  const asked: string[] = [];
  const turn = { now: 0 };
  world.extensions.push({
    id: BUILT_IN,
    isActive: true,
    packageJSON: { main: 'x', activationEvents: ['onLanguage:typescript'] },
    activate: () => Promise.resolve(),
  });
  world.commands.set('typescript.tsserverRequest', (command: string) => {
    asked.push(command);
    return script(command);
  });
  return { ts: new TypeScript(() => turn.now), asked, turn };
}

const asDocument = (document: Document): vscode.TextDocument =>
  document as unknown as vscode.TextDocument;
const response = (more: Reply = {}): Reply => ({ type: 'response', body: [], ...more });

test('typescript: an answer of the syntactic server is "not ready"', async () => {
  const { ts } = typescript(() => response({ _serverType: 'syntax' }));
  const document = asDocument(open('/ws/a.ts'));
  await assert.rejects(ts.load(document), { kind: 'notReady' });
});

test('typescript: the semantic server is asked for the project first, then who answers', async () => {
  const { ts, asked, turn } = typescript(() => response({ _serverType: 'semantic' }));
  const document = asDocument(open('/ws/a.ts'));
  assert.equal(await ts.load(document), true);
  assert.deepEqual(asked, ['syntacticDiagnosticsSync', 'quickinfo']);
  await ts.load(document);
  assert.deepEqual(asked.slice(2), ['syntacticDiagnosticsSync'], 'nothing happened since');
  turn.now += 1;
  await ts.load(document);
  assert.deepEqual(asked.slice(3), ['syntacticDiagnosticsSync', 'quickinfo']);
});

test('typescript: a server that started over is asked again', async () => {
  let seq = 100;
  const { ts, asked } = typescript(() => response({ request_seq: (seq += 1) }));
  const document = asDocument(open('/ws/a.ts'));
  await ts.load(document);
  seq = 0;
  await ts.load(document);
  assert.equal(asked.filter((command) => command === 'quickinfo').length, 2);
});

test('typescript: places without content tell nothing; other names are tried', async () => {
  const replies = [
    { type: 'noContent' },
    { type: 'noContent' },
    response({ _serverType: 'syntax' }),
  ];
  const { ts, asked } = typescript((command) =>
    command === 'quickinfo' ? replies.shift() : response(),
  );
  const document = asDocument(
    open('/ws/a.ts', 'typescript', 'import { one, four } from "./two";\nthree();\n'),
  );
  await assert.rejects(ts.load(document), { kind: 'notReady' });
  assert.equal(asked.length, 4);
});

test('typescript: syntax for ever is a lasting reason, told as one', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000 });
  const { ts } = typescript(() => response({ _serverType: 'syntax' }));
  const document = asDocument(open('/ws/a.ts'));
  await assert.rejects(ts.load(document), { kind: 'notReady' });
  t.mock.timers.tick(10_000);
  await assert.rejects(ts.load(document), { kind: 'unavailable' });
});

test('typescript: no built-in extension, or one without the command, is somebody else', async () => {
  const document = asDocument(open('/ws/a.ts'));
  assert.equal(await new TypeScript(() => 0).load(document), false);
  const { ts } = typescript(() => undefined);
  assert.equal(await ts.load(document), false);
});

test('typescript: a server that is not there yet is "not ready"', async () => {
  for (const reply of [{ type: 'noServer' }, { type: 'cancelled' }]) {
    world = reset();
    const { ts } = typescript(() => reply);
    await assert.rejects(ts.load(asDocument(open('/ws/a.ts'))), { kind: 'notReady' });
  }
  world = reset();
  const { ts } = typescript(() => {
    throw new Error('server crashed: /home/user');
  });
  await assert.rejects(ts.load(asDocument(open('/ws/a.ts'))), { kind: 'notReady' });
});

// Answers

function windowOf(ts = new TypeScript(() => 0)): Window {
  const documents = new Documents(['/ws'], say);
  const diagnostics = new Diagnostics(
    () => ['/ws'],
    ts,
    () => undefined,
  );
  return { documents, diagnostics, typescript: ts, self: 'sightline.sightline' };
}

const ask = (
  window: Window,
  kind: Ask,
  more: Partial<Question> = {},
  signal = new AbortController().signal,
): Promise<unknown> => answer(window, { type: 'question', id: 1, ask: kind, ...more }, signal);

const uri = 'file:///ws/a.py';
const position = { line: 0, character: 0 };

test('answers: a language without a rule says that nothing is known of its loading', async () => {
  const window = windowOf();
  open('/ws/a.py', 'python');
  const here = new Location(Uri.parse(uri), new Range(0, 0, 0, 1));
  world.commands.set('vscode.executeDefinitionProvider', () => [here]);
  world.commands.set('vscode.executeReferenceProvider', () => undefined);
  assert.deepEqual(await ask(window, 'definition', { uri, position }), {
    language: 'python',
    loaded: false,
    locations: [{ uri, range: { start: position, end: { line: 0, character: 1 } } }],
  });
  assert.deepEqual(await ask(window, 'references', { uri, position }), {
    language: 'python',
    loaded: false,
    locations: [],
  });
});

test('answers: a project that begins to load during the question makes it be asked again', async () => {
  const { ts } = typescript(() => response({ _serverType: 'semantic' }));
  const window = windowOf(ts);
  open('/ws/a.ts');
  let times = 0;
  world.commands.set('vscode.executeHoverProvider', () => {
    times += 1;
    if (times === 1) open('/ws/other/b.ts');
    return [{ contents: [`answer ${times}`] }];
  });
  const found = (await ask(window, 'hover', { uri: 'file:///ws/a.ts', position })) as Reply;
  assert.deepEqual(
    [found.loaded, found.contents],
    [true, [{ kind: 'markdown', value: 'answer 2' }]],
  );
});

test('answers: an extension that fails, a document that cannot be opened, an unknown question', async () => {
  const window = windowOf();
  open('/ws/a.py', 'python');
  world.commands.set('vscode.executeHoverProvider', () => {
    throw new Error('/home/user/secret');
  });
  await assert.rejects(ask(window, 'hover', { uri, position }), { kind: 'notReady' });
  await assert.rejects(ask(window, 'hover', { uri: 'file:///ws/none.py', position }), {
    kind: 'notFound',
  });
  await assert.rejects(ask(window, 'hover', { uri: 'no uri', position }), { kind: 'notFound' });
  await assert.rejects(ask(window, 'nonsense' as Ask), { kind: 'internal' });
});

test('answers: symbols that TypeScript may have cut are refused', async () => {
  const window = windowOf();
  const symbol = {
    name: 's',
    kind: 11,
    location: new Location(Uri.file('/ws/a.ts'), new Range(0, 0, 0, 1)),
  };
  world.commands.set('vscode.executeWorkspaceSymbolProvider', () =>
    Array<unknown>(255).fill(symbol),
  );
  const found = (await ask(window, 'workspaceSymbols', { query: 's' })) as { symbols: unknown[] };
  assert.equal(found.symbols.length, 255);
  world.commands.set('vscode.executeWorkspaceSymbolProvider', () =>
    Array<unknown>(256).fill(symbol),
  );
  await assert.rejects(ask(window, 'workspaceSymbols', { query: 's' }), { kind: 'tooMany' });
});

test('answers: the outline of a document', async () => {
  const window = windowOf();
  open('/ws/a.py', 'python');
  const span = new Range(0, 0, 1, 0);
  const tree = { name: 'f', kind: 11, range: span, selectionRange: span, children: [] };
  world.commands.set('vscode.executeDocumentSymbolProvider', () => [tree]);
  const found = (await ask(window, 'documentSymbols', { uri })) as {
    symbols: { name: string; kind: number }[];
  };
  assert.deepEqual([found.symbols[0]?.name, found.symbols[0]?.kind], ['f', 12]);
});

test('answers: who is there for a language', () => {
  const extension = (id: string, isActive: boolean, packageJSON: Reply): void => {
    world.extensions.push({ id, isActive, packageJSON, activate: () => Promise.resolve() });
  };
  extension('grammar', true, { contributes: { languages: [{ id: 'python' }] } });
  extension('sightline.sightline', true, { main: 'x', activationEvents: ['onLanguage:python'] });
  assert.equal(extensionFor('python', 'sightline.sightline'), 'none');
  extension('pyright', false, { main: 'x', activationEvents: ['onLanguage:python'] });
  assert.equal(extensionFor('python', 'sightline.sightline'), 'inactive');
  extension('pylance', true, { main: 'x', contributes: { languages: [{ id: 'python' }] } });
  assert.equal(extensionFor('python', 'sightline.sightline'), 'active');
});

// Diagnostics

function show(document: Document): void {
  world.tabs.push({ input: new TabInputText(document.uri) });
}

const problem = {
  range: new Range(0, 6, 0, 9),
  message: 'wrong',
  severity: 0,
  source: 'ts',
  code: 2322,
};

test('diagnostics: a document that is not shown has none to give, and says why', async () => {
  const window = windowOf();
  open('/ws/a.py', 'python');
  await assert.rejects(ask(window, 'documentDiagnostics', { uri }), {
    kind: 'unavailable',
    message: /does not show this document/,
  });
});

test('diagnostics: TypeScript is waited for until the editor shows what its server says', async () => {
  const wrong = { start: { line: 1, offset: 7 }, end: { line: 1, offset: 10 }, code: 2322 };
  const { ts } = typescript((command) =>
    response({ body: command === 'semanticDiagnosticsSync' ? [wrong] : [] }),
  );
  const window = windowOf(ts);
  const document = open('/ws/a.ts');
  show(document);
  const asking = ask(window, 'documentDiagnostics', { uri: 'file:///ws/a.ts' });
  let done = false;
  void asking.then(() => (done = true));
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(done, false, 'the editor shows nothing yet');
  world.diagnostics.set('file:///ws/a.ts', [problem]);
  world.diagnosticsChanged.fire({ uris: [document.uri] });
  const found = (await asking) as { diagnostics: { code: string }[] };
  assert.deepEqual(
    found.diagnostics.map((one) => one.code),
    ['2322'],
  );
});

test('diagnostics: one that the server no longer has is waited away', async () => {
  const { ts } = typescript(() => response());
  const window = windowOf(ts);
  const document = open('/ws/a.ts');
  show(document);
  world.diagnostics.set('file:///ws/a.ts', [problem]);
  const controller = new AbortController();
  const asking = ask(window, 'documentDiagnostics', { uri: 'file:///ws/a.ts' }, controller.signal);
  setTimeout(() => {
    controller.abort();
  }, 30);
  await assert.rejects(asking, { kind: 'notReady' });
});

test('diagnostics: validation that is switched off is told', async () => {
  const { ts } = typescript(() => response());
  world.settings['typescript.validate.enable'] = false;
  const window = windowOf(ts);
  show(open('/ws/a.ts'));
  await assert.rejects(ask(window, 'documentDiagnostics', { uri: 'file:///ws/a.ts' }), {
    kind: 'unavailable',
  });
});

test('diagnostics: other languages are believed after a report, or after silence', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 10_000 });
  const window = windowOf();
  const document = open('/ws/a.py', 'python');
  show(document);
  const one = async (): Promise<string> => {
    const controller = new AbortController();
    setTimeout(() => {
      controller.abort();
    }, 20);
    return ask(window, 'documentDiagnostics', { uri }, controller.signal).then(
      () => 'answered',
      (error: unknown) => (error as { kind: string }).kind,
    );
  };
  assert.equal(await one(), 'notReady');
  t.mock.timers.tick(QUIET_MS);
  assert.equal(await one(), 'answered');
  edit(document, 'x = 1\n');
  assert.equal(await one(), 'notReady');
  t.mock.timers.tick(100);
  world.diagnosticsChanged.fire({ uris: [document.uri] });
  t.mock.timers.tick(500);
  assert.equal(await one(), 'answered');
});

test('diagnostics: the workspace is what the window shows, and says how much that is', async () => {
  const { ts } = typescript(() => response());
  const window = windowOf(ts);
  show(open('/ws/a.ts'));
  show(open('/else/b.ts'));
  world.diagnostics.set('file:///else/b.ts', [problem]);
  world.diagnostics.set('file:///ws/c.ts', [problem]);
  const found = (await ask(window, 'workspaceDiagnostics')) as {
    files: { uri: string }[];
    shown: number;
  };
  assert.deepEqual([found.files.map((file) => file.uri), found.shown], [['file:///ws/c.ts'], 1]);
});
