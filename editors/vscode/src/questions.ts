// Questions under way: each is answered once, fails once, or was cancelled and is dropped.
import { Failed, type Question, type ToChild } from './messages';

export class Questions {
  private readonly running = new Map<number, AbortController>();

  constructor(
    private readonly answer: (question: Question, signal: AbortSignal) => Promise<unknown>,
    private readonly say: (message: ToChild) => boolean,
    private readonly bug: (error: unknown) => void,
  ) {}

  get count(): number {
    return this.running.size;
  }

  async take(question: Question): Promise<void> {
    const { id } = question;
    const controller = new AbortController();
    this.running.set(id, controller);
    try {
      const result = await this.answer(question, controller.signal);
      if (controller.signal.aborted) return;
      if (!this.say({ type: 'answer', id, result })) {
        this.say({ type: 'failed', id, kind: 'tooMany', reason: 'the answer is too large' });
      }
    } catch (error) {
      if (controller.signal.aborted) return;
      this.say(this.failure(id, error));
    } finally {
      this.running.delete(id);
    }
  }

  cancel(id: number): void {
    this.running.get(id)?.abort();
  }

  cancelAll(): void {
    for (const controller of this.running.values()) controller.abort();
  }

  private failure(id: number, error: unknown): ToChild {
    if (error instanceof Failed) {
      return { type: 'failed', id, kind: error.kind, reason: error.message };
    }
    this.bug(error);
    return { type: 'failed', id, kind: 'internal', reason: '' };
  }
}
