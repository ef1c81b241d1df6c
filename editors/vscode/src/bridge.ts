// The wire: one JSON message per line over the child's pipes, bounded in both directions.
import type { Readable, Writable } from 'node:stream';
import { MAX_MESSAGE_BYTES, type FromChild, type ToChild } from './messages';

/** What may wait unread in the pipe before the child is taken as hanging. */
const MAX_BUFFERED_BYTES = 4 * MAX_MESSAGE_BYTES;
const NEWLINE = 0x0a;

export class BridgeError extends Error {}

export class Bridge {
  private parts: Buffer[] = [];
  private size = 0;
  private broken = false;

  constructor(
    input: Readable,
    private readonly output: Writable,
    private readonly take: (message: FromChild) => void,
    private readonly fail: (error: BridgeError) => void,
  ) {
    input.on('data', (chunk: Buffer) => {
      this.read(chunk);
    });
    input.on('error', () => undefined);
    output.on('error', () => undefined); // the child's end tells why
  }

  /** Whether the message could be sent; one that is too large is not. */
  send(message: ToChild): boolean {
    const line = encode(message);
    if (line.length > MAX_MESSAGE_BYTES) return false;
    if (this.broken || !this.output.writable) return true;
    this.output.write(line);
    if (this.output.writableLength > MAX_BUFFERED_BYTES) {
      this.end('the program does not read what it is told');
    }
    return true;
  }

  private read(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end >= 0 && !this.broken; end = rest.indexOf(NEWLINE)) {
      const line = Buffer.concat([...this.parts, rest.subarray(0, end)]);
      this.parts = [];
      this.size = 0;
      rest = rest.subarray(end + 1);
      this.line(line);
    }
    this.parts.push(rest);
    this.size += rest.length;
    if (this.size > MAX_MESSAGE_BYTES) this.end('the program sent a message that is too large');
  }

  private line(line: Buffer): void {
    let message: unknown;
    try {
      message = JSON.parse(line.toString('utf8'));
    } catch {
      this.end('the program sent something that is not a message');
      return;
    }
    if (typeof message !== 'object' || message === null || !('type' in message)) {
      this.end('the program sent something that is not a message');
      return;
    }
    this.take(message as FromChild);
  }

  private end(reason: string): void {
    if (this.broken) return;
    this.broken = true;
    this.parts = [];
    this.fail(new BridgeError(reason));
  }
}

/** A message as a line. Half a surrogate pair, which is not text, becomes U+FFFD. */
export function encode(message: ToChild): Buffer {
  let json = JSON.stringify(message);
  if (/\\ud[89a-f]/i.test(json)) {
    json = JSON.stringify(message, (_, value: unknown) =>
      typeof value === 'string' ? value.toWellFormed() : value,
    );
  }
  return Buffer.from(json + '\n', 'utf8');
}
