// The hand of a test inside a real extension host. It connects to the socket named by
// SIGHTLINE_TEST_DRIVER and runs what the test sends there: one JSON line {id, code, args} in, one
// {id, result} or {id, error} out. It is never part of the product.
'use strict';
const net = require('node:net');
const readline = require('node:readline');
const vscode = require('vscode');

const AsyncFunction = (async () => {}).constructor;

exports.activate = () => {
  const path = process.env.SIGHTLINE_TEST_DRIVER;
  if (!path) return;
  const socket = net.connect(path);
  const say = (message) => socket.write(JSON.stringify(message) + '\n');
  socket.on('error', () => undefined);
  socket.on('connect', () => say({ id: 0, result: { pid: process.pid, version: vscode.version } }));
  readline.createInterface({ input: socket }).on('line', async (line) => {
    const { id, code, args } = JSON.parse(line);
    try {
      const result = await new AsyncFunction('vscode', 'args', 'require', code)(vscode, args, require);
      say({ id, result: result === undefined ? null : result });
    } catch (error) {
      say({ id, error: String(error && error.stack) });
    }
  });
};
