// A small editor in memory, in place of the real one: enough of its interface for the fast tests.
// `world` is what a test looks at and changes; `reset` begins a new one.

export class Disposable {
  constructor(private readonly run: () => void) {}
  static from(...all: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => {
      for (const one of all) one.dispose();
    });
  }
  dispose(): void {
    this.run();
  }
}

export class EventEmitter<T> {
  private listeners: ((value: T) => unknown)[] = [];
  readonly event = (listener: (value: T) => unknown): Disposable => {
    this.listeners.push(listener);
    return new Disposable(() => {
      this.listeners = this.listeners.filter((one) => one !== listener);
    });
  };
  fire(value: T): void {
    for (const listener of [...this.listeners]) listener(value);
  }
  get count(): number {
    return this.listeners.length;
  }
  dispose(): void {
    this.listeners = [];
  }
}

export class Uri {
  constructor(
    readonly scheme: string,
    readonly path: string,
  ) {}
  static file(path: string): Uri {
    return new Uri('file', path);
  }
  static parse(text: string, strict?: boolean): Uri {
    const match = /^([a-z]+):(?:\/\/)?(.*)$/.exec(text);
    if (!match && strict) throw new Error('no scheme');
    return new Uri(match?.[1] ?? 'file', decodeURIComponent(match?.[2] ?? text));
  }
  get fsPath(): string {
    return this.path;
  }
  toString(): string {
    return `${this.scheme}://${encodeURI(this.path)}`;
  }
}

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}

export class Range {
  readonly start: Position;
  readonly end: Position;
  constructor(a: number, b: number, c: number, d: number) {
    this.start = new Position(a, b);
    this.end = new Position(c, d);
  }
}

export class Location {
  constructor(
    readonly uri: Uri,
    readonly range: Range,
  ) {}
}

export class RelativePattern {
  constructor(
    readonly base: Uri,
    readonly pattern: string,
  ) {}
}

export class ThemeColor {
  constructor(readonly id: string) {}
}

export class TabInputText {
  constructor(readonly uri: Uri) {}
}

export class TabInputTextDiff {
  constructor(
    readonly original: Uri,
    readonly modified: Uri,
  ) {}
}

export class McpHttpServerDefinition {
  constructor(
    readonly label: string,
    readonly uri: Uri,
    public headers: Record<string, string> = {},
    readonly version?: string,
  ) {}
}

export const StatusBarAlignment = { Left: 1, Right: 2 };
export const version = '1.101.0';

export class Document {
  isDirty = false;
  isClosed = false;
  constructor(
    readonly uri: Uri,
    readonly languageId: string,
    public text: string,
  ) {}
  getText(): string {
    return this.text;
  }
  positionAt(offset: number): Position {
    const before = this.text.slice(0, offset).split('\n');
    return new Position(before.length - 1, before.at(-1)?.length ?? 0);
  }
}

type Command = (...rest: never[]) => unknown;

class Watcher {
  readonly created = new EventEmitter<Uri>();
  readonly changedEvent = new EventEmitter<Uri>();
  readonly deleted = new EventEmitter<Uri>();
  readonly onDidCreate = this.created.event;
  readonly onDidChange = this.changedEvent.event;
  readonly onDidDelete = this.deleted.event;
  disposed = false;
  constructor(readonly pattern: unknown) {}
  dispose(): void {
    this.disposed = true;
  }
}

export interface Extension {
  id: string;
  isActive: boolean;
  packageJSON: Record<string, unknown>;
  activate(): Promise<void>;
}

function newWorld() {
  return {
    trusted: true,
    folders: ['/ws'] as string[],
    settings: {} as Record<string, unknown>,
    defaults: {} as Record<string, unknown>,
    /** What is set in the sections of others, and their defaults. */
    others: {} as Record<string, unknown>,
    otherDefaults: {} as Record<string, unknown>,
    documents: [] as Document[],
    commands: new Map<string, Command>(),
    extensions: [] as Extension[],
    diagnostics: new Map<string, unknown[]>(),
    tabs: [] as { input: unknown }[],
    clipboard: '',
    said: [] as string[],
    picked: undefined as unknown,
    typed: undefined as string | undefined,
    status: { text: '', tooltip: '' },
    output: [] as string[],
    watchers: [] as Watcher[],
    mcp: undefined as unknown,
    grant: new EventEmitter<undefined>(),
    foldersChanged: new EventEmitter<undefined>(),
    settingsChanged: new EventEmitter<{ affectsConfiguration(section: string): boolean }>(),
    opened: new EventEmitter<Document>(),
    closed: new EventEmitter<Document>(),
    saved: new EventEmitter<Document>(),
    edited: new EventEmitter<{ document: Document; contentChanges: unknown[] }>(),
    diagnosticsChanged: new EventEmitter<{ uris: Uri[] }>(),
    tabsChanged: new EventEmitter<{ opened: { input: unknown }[] }>(),
    extensionsChanged: new EventEmitter<undefined>(),
  };
}

export let world = newWorld();

export function reset(): typeof world {
  world = newWorld();
  return world;
}

/** Subscribes to whatever world there is when it is called. */
const late =
  <T>(pick: () => EventEmitter<T>) =>
  (listener: (value: T) => unknown): Disposable =>
    pick().event(listener);

export const workspace = {
  get isTrusted(): boolean {
    return world.trusted;
  },
  get workspaceFolders(): { uri: Uri }[] {
    return world.folders.map((folder) => ({ uri: Uri.file(folder) }));
  },
  get textDocuments(): Document[] {
    return world.documents.filter((document) => !document.isClosed);
  },
  getConfiguration: (section?: string) => ({
    ...(section === undefined && { ...world.otherDefaults, ...world.others }),
    inspect: (key: string): object => ({
      key,
      defaultValue: world.otherDefaults[key],
      workspaceValue: world.others[key],
    }),
    get: (key: string, fallback?: unknown): unknown => {
      const name = `${section}.${key}`;
      return world.settings[name] ?? world.defaults[name] ?? fallback;
    },
  }),
  openTextDocument: (uri: Uri): Promise<Document> => {
    const found = world.documents.find((one) => one.uri.toString() === uri.toString());
    return found ? Promise.resolve(found) : Promise.reject(new Error('cannot open'));
  },
  createFileSystemWatcher: (pattern: unknown): Watcher => {
    const watcher = new Watcher(pattern);
    world.watchers.push(watcher);
    return watcher;
  },
  onDidGrantWorkspaceTrust: late(() => world.grant),
  onDidChangeWorkspaceFolders: late(() => world.foldersChanged),
  onDidChangeConfiguration: late(() => world.settingsChanged),
  onDidOpenTextDocument: late(() => world.opened),
  onDidCloseTextDocument: late(() => world.closed),
  onDidSaveTextDocument: late(() => world.saved),
  onDidChangeTextDocument: late(() => world.edited),
};

export const window = {
  get tabGroups() {
    return {
      all: [{ tabs: world.tabs }],
      onDidChangeTabs: late(() => world.tabsChanged),
    };
  },
  createStatusBarItem: () => ({
    name: '',
    command: '',
    backgroundColor: undefined,
    set text(text: string) {
      world.status.text = text;
    },
    set tooltip(text: string) {
      world.status.tooltip = text;
    },
    show: () => undefined,
    dispose: () => undefined,
  }),
  createOutputChannel: () => ({
    appendLine: (line: string) => world.output.push(line),
    show: () => undefined,
    dispose: () => undefined,
  }),
  showErrorMessage: (text: string): Promise<undefined> => {
    world.said.push(text);
    return Promise.resolve(undefined);
  },
  showInformationMessage: (text: string): Promise<undefined> => {
    world.said.push(text);
    return Promise.resolve(undefined);
  },
  showQuickPick: (): Promise<unknown> => Promise.resolve(world.picked),
  showInputBox: (): Promise<string | undefined> => Promise.resolve(world.typed),
};

export const languages = {
  onDidChangeDiagnostics: late(() => world.diagnosticsChanged),
  getDiagnostics: (uri?: Uri): unknown => {
    if (uri) return world.diagnostics.get(uri.toString()) ?? [];
    return [...world.diagnostics].map(([key, found]) => [Uri.parse(key), found]);
  },
  match: (selector: { pattern: string }, document: { uri: Uri }): number => {
    const middle = selector.pattern.replaceAll('**/', '').replaceAll('/**', '');
    return document.uri.path.split('/').includes(middle) ? 10 : 0;
  },
};

export const commands = {
  registerCommand: (name: string, run: Command): Disposable => {
    world.commands.set(name, run);
    return new Disposable(() => world.commands.delete(name));
  },
  executeCommand: async (name: string, ...rest: unknown[]): Promise<unknown> => {
    const command = world.commands.get(name) as ((...rest: unknown[]) => unknown) | undefined;
    if (!command) throw new Error(`command '${name}' not found`);
    return await command(...rest);
  },
};

export const extensions = {
  get all(): Extension[] {
    return world.extensions;
  },
  getExtension: (id: string): Extension | undefined => world.extensions.find((e) => e.id === id),
  onDidChange: late(() => world.extensionsChanged),
};

export const env = {
  appName: 'A fake editor',
  clipboard: {
    writeText: (text: string): Promise<void> => {
      world.clipboard = text;
      return Promise.resolve();
    },
  },
};

export const lm = {
  registerMcpServerDefinitionProvider: (_: string, provider: unknown): Disposable => {
    world.mcp = provider;
    return new Disposable(() => (world.mcp = undefined));
  },
};

/** A secret storage in memory. */
export class Secrets {
  readonly held = new Map<string, string>();
  private readonly changed = new EventEmitter<{ key: string }>();
  readonly onDidChange = this.changed.event;
  get(key: string): Promise<string | undefined> {
    return Promise.resolve(this.held.get(key));
  }
  store(key: string, value: string): Promise<void> {
    this.held.set(key, value);
    this.changed.fire({ key });
    return Promise.resolve();
  }
  delete(key: string): Promise<void> {
    this.held.delete(key);
    this.changed.fire({ key });
    return Promise.resolve();
  }
}
