// What a language extension usually is: a server behind vscode-languageclient. The modules lie where
// SIGHTLINE_TEST_LANGUAGES says.
'use strict';
const { createRequire } = require('node:module');
const path = require('node:path');

const modules = process.env.SIGHTLINE_TEST_LANGUAGES;
const { LanguageClient, TransportKind } = createRequire(modules + '/')('vscode-languageclient/node');
let client;

exports.activate = async () => {
  const server = { module: path.join(modules, 'pyright/langserver.index.js'), transport: TransportKind.ipc };
  client = new LanguageClient('pyright', 'Pyright', server, { documentSelector: [{ language: 'python' }] });
  await client.start();
};

exports.deactivate = () => client && client.stop();
