// One run of the sightline program, from its start to its end.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { answer, type Window } from './answers';
import { Bridge } from './bridge';
import { Diagnostics } from './diagnostics';
import { Documents } from './documents';
import { Files } from './files';
import { BRIDGE, type FromChild, type Hello, type ToChild } from './messages';
import { Questions } from './questions';
import { TypeScript } from './typescript';

const START_MS = 30_000;
const END_MS = 5_000;

/** Why a child does not serve. `code` is one of docs/bridge.md, or "old", "gone", "broken". */
export class StartFailed extends Error {
  constructor(
    readonly code: string,
    reason: string,
  ) {
    super(reason);
  }
}

export interface Started {
  version: string;
  port: number;
}

export interface Surroundings {
  roots: string[];
  self: string;
  log: (line: string) => void;
  bug: (error: unknown) => void;
}

export class Child {
  private readonly bridge: Bridge;
  private readonly documents: Documents;
  private readonly files: Files;
  private readonly diagnostics: Diagnostics;
  private readonly questions: Questions;
  private version = '';
  private readonly started: Promise<Started>;
  private settle!: { resolve: (started: Started) => void; reject: (error: StartFailed) => void };
  /** Resolves to the exit code when the process is gone. */
  readonly ended: Promise<number | null>;

  constructor(
    private readonly process: ChildProcessWithoutNullStreams,
    surroundings: Surroundings,
  ) {
    let roots: readonly string[] = surroundings.roots;
    this.started = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    this.started.catch(() => undefined); // whoever awaits it is told; nobody else need be
    this.ended = new Promise((resolve) => {
      process.once('error', () => {
        this.settle.reject(new StartFailed('gone', 'the program could not be started'));
        resolve(null);
      });
      process.once('close', (code) => {
        // An older program does not know the flag and ends with a usage error before any message.
        const old = code === 2 && this.version === '';
        this.settle.reject(
          old
            ? new StartFailed('old', 'the sightline program is too old for this extension')
            : new StartFailed('gone', 'the program ended before it served'),
        );
        resolve(code);
      });
    });
    this.bridge = new Bridge(
      process.stdout,
      process.stdin,
      (message) => {
        this.take(message);
      },
      (error) => {
        this.settle.reject(new StartFailed('broken', error.message));
        surroundings.log(error.message);
        process.kill();
      },
    );
    const say = (message: ToChild): boolean => this.bridge.send(message);
    const typescript = new TypeScript(() => this.documents.turns);
    this.documents = new Documents(roots, say);
    this.diagnostics = new Diagnostics(
      () => roots,
      typescript,
      (uris) => say({ type: 'diagnostics', uris }),
    );
    this.files = new Files(roots, say, (uri) => {
      this.diagnostics.changed();
      if (uri.path.endsWith('.json')) this.documents.turns += 1; // it may configure a project
    });
    this.followRoots = (next) => {
      roots = next;
      this.documents.follow(next);
      this.files.follow(next);
    };
    const window: Window = {
      documents: this.documents,
      diagnostics: this.diagnostics,
      typescript,
      self: surroundings.self,
    };
    this.questions = new Questions(
      (question, signal) => answer(window, question, signal),
      say,
      surroundings.bug,
    );
    createInterface({ input: process.stderr }).on('line', surroundings.log);
  }

  private identity = '';
  private readonly followRoots: (roots: readonly string[]) => void;

  get pid(): number | undefined {
    return this.process.pid;
  }

  /** Says hello and waits until the child serves. */
  async serve(hello: Hello): Promise<Started> {
    this.identity = hello.identity;
    this.bridge.send(hello);
    const timer = setTimeout(() => {
      this.settle.reject(new StartFailed('gone', 'the program did not start in time'));
    }, START_MS);
    try {
      return await this.started;
    } finally {
      clearTimeout(timer);
    }
  }

  setTokens(tokens: string[]): void {
    this.bridge.send({ type: 'tokens', tokens });
  }

  setRoots(folders: string[], roots: readonly string[]): void {
    this.followRoots(roots);
    this.bridge.send({ type: 'folders', roots: folders });
  }

  /** Tells the child what decides the answers from now on, if that is something else. */
  identify(identity: string): void {
    if (identity === this.identity) return;
    this.identity = identity;
    this.bridge.send({ type: 'restarted', identity });
  }

  /** Ends the child: it ends with its input; one that does not is made to. */
  async stop(): Promise<void> {
    this.questions.cancelAll();
    this.documents.dispose();
    this.files.dispose();
    this.diagnostics.dispose();
    this.process.stdin.end();
    const timer = setTimeout(() => {
      this.process.kill('SIGKILL');
    }, END_MS);
    await this.ended;
    clearTimeout(timer);
  }

  private take(message: FromChild): void {
    switch (message.type) {
      case 'welcome':
        this.version = message.version;
        if (message.bridge !== BRIDGE) {
          const age = message.bridge < BRIDGE ? 'old' : 'new';
          this.settle.reject(
            new StartFailed(age, `the sightline program is too ${age} for this extension`),
          );
        }
        break;
      case 'ready':
        this.settle.resolve({ version: this.version, port: message.port });
        break;
      case 'refused':
        this.settle.reject(new StartFailed(message.code, message.reason));
        break;
      case 'question':
        void this.questions.take(message);
        break;
      case 'cancel':
        this.questions.cancel(message.id);
        break;
    }
  }
}
