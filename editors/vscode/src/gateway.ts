// The state of the server in this window: what should run, what does, and why not.
import * as vscode from 'vscode';
import { Child, StartFailed, type Started } from './child';
import { identity } from './identity';
import { BRIDGE } from './messages';
import { findProgram, NoProgram, start } from './program';
import { folders } from './roots';
import { readSettings, type Settings } from './settings';
import { MalformedTokens, type Tokens } from './tokens';

export type State =
  | { is: 'off'; why: string }
  | { is: 'starting' }
  | { is: 'serving'; port: number; version: string; pid: number | undefined }
  | { is: 'failed'; code: string; why: string };

/** How often a child that died by itself is started again. */
const MAX_RESTARTS = 3;
const RESTARTS_MS = 60_000;

export class Gateway implements vscode.Disposable {
  state: State = { is: 'off', why: 'not started' };
  private child: Child | undefined;
  private running = '';
  private wish: 'start' | 'stop' | undefined;
  private work: Promise<void> = Promise.resolve();
  private deaths: number[] = [];
  private readonly changed = new vscode.EventEmitter<State>();
  readonly onDidChange = this.changed.event;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly tokens: Tokens,
    private readonly log: (line: string) => void,
    private readonly bug: (error: unknown) => void,
  ) {
    const again = (): void => void this.reconcile();
    this.subscriptions = [
      this.changed,
      vscode.workspace.onDidGrantWorkspaceTrust(again),
      vscode.workspace.onDidChangeWorkspaceFolders(() => {
        const settings = readSettings();
        this.child?.setRoots(folders(), rootsOf(settings));
        again();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        const own =
          event.affectsConfiguration('mcpLspGateway') || event.affectsConfiguration('sightline');
        if (own) again();
        this.child?.identify(identity());
      }),
      vscode.extensions.onDidChange(() => this.child?.identify(identity())),
      context.secrets.onDidChange((event) => {
        if (event.key === readSettings().secretStorageKey) void this.tokensChanged();
      }),
    ];
  }

  get url(): string {
    const port = this.state.is === 'serving' ? this.state.port : readSettings().port;
    return `http://127.0.0.1:${port}/mcp`;
  }

  start(): Promise<void> {
    this.wish = 'start';
    this.deaths = [];
    return this.reconcile(true);
  }

  stop(): Promise<void> {
    this.wish = 'stop';
    return this.reconcile();
  }

  /** Makes what runs be what should run. Calls are carried out one after the other. */
  reconcile(anew = false): Promise<void> {
    this.work = this.work.then(() => this.step(anew)).catch(this.bug);
    return this.work;
  }

  dispose(): Promise<void> {
    this.wish = 'stop';
    for (const subscription of this.subscriptions) subscription.dispose();
    return this.reconcile();
  }

  private async step(anew: boolean): Promise<void> {
    const settings = readSettings();
    const why = this.refusal(settings);
    if (why !== undefined) {
      await this.end();
      this.set({ is: 'off', why });
      return;
    }
    const wanted = JSON.stringify([settings.child, settings.path, settings.acceptUnproven]);
    const failed = this.state.is === 'failed' && !anew;
    if (wanted === this.running && (this.child || failed)) return;
    await this.end();
    this.running = wanted;
    await this.begin(settings);
  }

  /** Why nothing may run now, if so. */
  private refusal(settings: Settings): string | undefined {
    if (!vscode.workspace.isTrusted) return 'the workspace is not trusted';
    if (folders().length === 0) return 'no folder is open';
    if (this.wish === 'stop') return 'stopped';
    if (!settings.enabled && this.wish !== 'start') return 'mcpLspGateway.enabled is off';
    return undefined;
  }

  private async begin(settings: Settings): Promise<void> {
    this.set({ is: 'starting' });
    try {
      const tokens = await this.tokens.provide();
      const program = findProgram(settings.path, process.env, folders());
      const child = new Child(start(program, process.env), {
        roots: rootsOf(settings),
        self: this.context.extension.id,
        log: this.log,
        bug: this.bug,
      });
      this.child = child;
      void child.ended.then(() => {
        this.died(child);
      });
      const started = await child.serve({
        type: 'hello',
        bridge: BRIDGE,
        tokens,
        roots: folders(),
        trusted: vscode.workspace.isTrusted,
        settings: settings.child,
        editor: `${vscode.env.appName} ${vscode.version}`,
        identity: identity(),
        acceptUnproven: settings.acceptUnproven,
      });
      this.serving(child, started);
    } catch (error) {
      await this.end();
      this.set(failure(error));
    }
  }

  private serving(child: Child, started: Started): void {
    this.set({ is: 'serving', port: started.port, version: started.version, pid: child.pid });
  }

  private async end(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (child) await child.stop();
  }

  /** A child that ended though nobody asked it to is started again, a few times. */
  private died(child: Child): void {
    if (this.child !== child || this.state.is !== 'serving') return;
    this.child = undefined;
    const now = Date.now();
    this.deaths = [...this.deaths.filter((at) => now - at < RESTARTS_MS), now];
    if (this.deaths.length > MAX_RESTARTS) {
      this.set({ is: 'failed', code: 'gone', why: 'the program ended several times' });
    } else {
      this.running = '';
      void this.reconcile();
    }
  }

  /** New tokens are valid at once; tokens that cannot be read, or none, close the door. */
  private async tokensChanged(): Promise<void> {
    try {
      const tokens = await this.tokens.stored();
      this.child?.setTokens(tokens);
      if (tokens.length === 0) throw new MalformedTokens();
      if (this.state.is === 'failed' && this.state.code === 'tokens') await this.reconcile(true);
    } catch (error) {
      this.child?.setTokens([]);
      await this.end();
      this.set(failure(error));
    }
  }

  private set(state: State): void {
    this.state = state;
    this.changed.fire(state);
  }
}

function failure(error: unknown): State {
  if (error instanceof MalformedTokens) return { is: 'failed', code: 'tokens', why: error.message };
  if (error instanceof NoProgram) return { is: 'failed', code: 'program', why: error.message };
  if (error instanceof StartFailed) return { is: 'failed', code: error.code, why: error.message };
  return { is: 'failed', code: 'bug', why: 'the extension failed; see its output channel' };
}

const rootsOf = (settings: Settings): string[] => [...folders(), ...settings.additionalRoots];
