// Text for the output channel: no token, no long random string, no folder of this machine.

const MAX_LINE = 2_048;
const BEARER = /\b(Bearer|MCP-Session-Id:)\s+\S+/gi;
const RANDOM = /[A-Za-z0-9_-]{32,}/g;
const FOLDERS = /(?<![\w.])(?:file:\/*)?\/(?:[^\s"'/:,()]+\/)+/g;
const MASK = '[redacted]';

export function redact(text: string, secrets: readonly string[] = []): string {
  let clean = text;
  for (const secret of secrets) clean = clean.replaceAll(secret, MASK);
  clean = clean.replace(BEARER, (_, word: string) => `${word} ${MASK}`);
  clean = clean.replace(FOLDERS, '').replace(RANDOM, MASK);
  // A log line stays one line, whatever a file is called.
  clean = clean.replace(/[\x00-\x1f\x7f]+/g, ' ');
  return clean.length > MAX_LINE ? clean.slice(0, MAX_LINE - 1) + '…' : clean;
}
