import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { Bridge, encode } from '../src/bridge';
import {
  Failed,
  MAX_MESSAGE_BYTES,
  type FromChild,
  type Question,
  type ToChild,
} from '../src/messages';
import { Questions } from '../src/questions';

function wire(): {
  input: PassThrough;
  output: PassThrough;
  bridge: Bridge;
  taken: FromChild[];
  failures: string[];
} {
  const input = new PassThrough();
  const output = new PassThrough();
  const taken: FromChild[] = [];
  const failures: string[] = [];
  const bridge = new Bridge(
    input,
    output,
    (message) => taken.push(message),
    (error) => failures.push(error.message),
  );
  return { input, output, bridge, taken, failures };
}

test('messages arrive whole, however they were cut', () => {
  const { input, taken } = wire();
  const text = '{"type":"cancel","id":1}\n{"type":"cancel","id":2}\n{"type":"ready","port":"é"}\n';
  for (const byte of Buffer.from(text)) input.write(Buffer.from([byte]));
  input.write('{"type":"cancel","id":3}\n{"type":"cancel","id":4}\n{"type":');
  assert.deepEqual(
    taken.map((message) => ('id' in message ? message.id : message.type)),
    [1, 2, 'ready', 3, 4],
  );
});

for (const junk of ['junk\n', '1\n', 'null\n', '{"no":"type"}\n']) {
  test(`what is not a message ends the bridge: ${junk.trim()}`, () => {
    const { input, taken, failures } = wire();
    input.write(junk + '{"type":"cancel","id":1}\n');
    assert.deepEqual([taken.length, failures.length], [0, 1]);
  });
}

test('a message that is too large ends the bridge, once', () => {
  const { input, failures } = wire();
  for (let mib = 0; mib < 18; mib += 1) input.write(Buffer.alloc(1 << 20, 0x61));
  assert.deepEqual(failures, ['the program sent a message that is too large']);
});

test('a message that is too large is not sent', () => {
  const { output, bridge } = wire();
  assert.equal(bridge.send({ type: 'text', uri: 'x'.repeat(MAX_MESSAGE_BYTES) }), false);
  assert.equal(bridge.send({ type: 'text', uri: 'y' }), true);
  assert.equal(String(output.read()), '{"type":"text","uri":"y"}\n');
});

test('half a surrogate pair becomes a replacement character, whole ones stay', () => {
  const line = encode({ type: 'text', uri: 'a\ud800b 😀 \\ud800' }).toString('utf8');
  assert.deepEqual(JSON.parse(line), { type: 'text', uri: 'a\ufffdb 😀 \\ud800' });
  assert.doesNotMatch(line, /\\ud800"?b/);
});

const question = (id: number): Question => ({ type: 'question', id, ask: 'hover' });

test('questions are answered, fail, or are dropped when cancelled', async () => {
  const said: ToChild[] = [];
  const bugs: unknown[] = [];
  let release = (): void => undefined;
  const questions = new Questions(
    async (asked) => {
      if (asked.id === 1) return { contents: [] };
      if (asked.id === 2) throw new Failed('notReady', 'something');
      if (asked.id === 3) throw new Error('/home/user/secret');
      await new Promise<void>((resolve) => (release = resolve));
      return 'late';
    },
    (message) => {
      said.push(message);
      return true;
    },
    (error) => bugs.push(error),
  );
  await questions.take(question(1));
  await questions.take(question(2));
  await questions.take(question(3));
  const cancelled = questions.take(question(4));
  questions.cancel(4);
  release();
  await cancelled;
  assert.deepEqual(said, [
    { type: 'answer', id: 1, result: { contents: [] } },
    { type: 'failed', id: 2, kind: 'notReady', reason: 'something' },
    { type: 'failed', id: 3, kind: 'internal', reason: '' },
  ]);
  assert.deepEqual([bugs.length, questions.count], [1, 0]);
});

test('an answer that does not fit is a failure, not silence', async () => {
  const said: ToChild[] = [];
  const questions = new Questions(
    () => Promise.resolve('large'),
    (message) => {
      said.push(message);
      return message.type !== 'answer';
    },
    () => undefined,
  );
  await questions.take(question(1));
  assert.deepEqual(said.at(-1), {
    type: 'failed',
    id: 1,
    kind: 'tooMany',
    reason: 'the answer is too large',
  });
});
