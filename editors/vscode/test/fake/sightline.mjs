#!/usr/bin/env node
// A stand-in for the sightline program: it speaks the bridge and writes down what it hears, line by
// line, into the file SIGHTLINE_FAKE_LOG. SIGHTLINE_FAKE says how it behaves.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const how = process.env.SIGHTLINE_FAKE ?? '';
const log = (entry) => appendFileSync(process.env.SIGHTLINE_FAKE_LOG, JSON.stringify(entry) + '\n');
const say = (message) => process.stdout.write(JSON.stringify(message) + '\n');

log({
  type: 'start',
  argv: process.argv.slice(2),
  pid: process.pid,
  env: Object.keys(process.env),
});
if (how === 'old') {
  process.stderr.write('error: unrecognized arguments: --source\n');
  process.exit(2);
}
say({ type: 'welcome', bridge: how === 'newer' ? 2 : 1, version: '0.1.0' });
if (how === 'junk') process.stdout.write('not a message\n');
process.stderr.write('{"event":"started","token":"Bearer abc"}\n');
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = JSON.parse(line);
    log(message);
    if (message.type !== 'hello') return;
    if (how === 'taken') {
      say({ type: 'refused', code: 'port', reason: 'port 3939 is taken' });
      process.exit(3);
    }
    say({ type: 'ready', port: message.settings.port });
    if (how === 'dies') setTimeout(() => process.exit(7), 50);
  })
  .on('close', () => {
    log({ type: 'end' });
    process.exit(0);
  });
