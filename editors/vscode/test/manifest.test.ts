import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readSettings } from '../src/settings';
import { reset } from './fake/vscode';

interface Property {
  default: unknown;
  scope: string;
  enum?: string[];
  minimum?: number;
  maximum?: number;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  extensionKind: string[];
  engines: { vscode: string };
  dependencies?: object;
  capabilities: { untrustedWorkspaces: { supported: unknown } };
  scripts: Record<string, string>;
  contributes: {
    commands: { command: string; title: string }[];
    configuration: { properties: Record<string, Property> }[];
    mcpServerDefinitionProviders: { id: string }[];
  };
};
const properties = Object.assign(
  {},
  ...manifest.contributes.configuration.map((part) => part.properties),
) as Record<string, Property>;

const GATEWAY: Record<string, unknown> = {
  'mcpLspGateway.enabled': false,
  'mcpLspGateway.bindAddress': '127.0.0.1',
  'mcpLspGateway.port': 3939,
  'mcpLspGateway.endpointPath': '/mcp',
  'mcpLspGateway.allowedOrigins': [],
  'mcpLspGateway.additionalAllowedRoots': [],
  'mcpLspGateway.enableSessions': true,
  'mcpLspGateway.maxItemsPerPage': 200,
  'mcpLspGateway.maxResponseBytes': 524288,
  'mcpLspGateway.requestTimeoutMs': 2000,
  'mcpLspGateway.debugLogging': false,
  'mcpLspGateway.secretStorageKey': 'mcpLspGateway.authTokens',
};

test('the twelve settings have exactly their keys and defaults; the rest is sightline.*', () => {
  const defaults = Object.fromEntries(
    Object.entries(properties).map(([key, one]) => [key, one.default]),
  );
  const own = Object.keys(defaults).filter((key) => !key.startsWith('sightline.'));
  assert.deepEqual(Object.fromEntries(own.map((key) => [key, defaults[key]])), GATEWAY);
});

test('every setting is machine-scoped, so no workspace can change it', () => {
  for (const [key, one] of Object.entries(properties)) assert.equal(one.scope, 'machine', key);
});

test('enums and bounds', () => {
  assert.deepEqual(properties['mcpLspGateway.bindAddress']!.enum, ['127.0.0.1']);
  assert.deepEqual(properties['mcpLspGateway.endpointPath']!.enum, ['/mcp']);
  const bounds = (key: string): unknown => [properties[key]!.minimum, properties[key]!.maximum];
  assert.deepEqual(bounds('mcpLspGateway.port'), [1024, 65535]);
  assert.deepEqual(bounds('mcpLspGateway.maxItemsPerPage'), [1, 200]);
  assert.deepEqual(bounds('mcpLspGateway.maxResponseBytes'), [16384, 524288]);
  assert.deepEqual(bounds('mcpLspGateway.requestTimeoutMs'), [250, 2000]);
});

test('the two titles of the gateway, and everything new under sightline', () => {
  const titles = manifest.contributes.commands
    .filter((one) => one.command.startsWith('mcpLspGateway.'))
    .map((one) => one.title);
  assert.deepEqual(titles, [
    'MCP LSP Gateway: Copy Codex config.toml (Token Inline)',
    'MCP LSP Gateway: Set Bearer Token(s)',
  ]);
  for (const { command } of manifest.contributes.commands)
    assert.match(command, /^(mcpLspGateway|sightline)\./);
});

test('the scripts are there', () => {
  for (const name of [
    'check-types',
    'compile',
    'watch',
    'lint',
    'format:check',
    'format',
    'compile-tests',
    'test',
    'package',
    'package:vsix',
  ]) {
    assert.ok(manifest.scripts[name], name);
  }
});

test('a workspace extension that never runs untrusted and brings no dependency', () => {
  assert.deepEqual(manifest.extensionKind, ['workspace']);
  assert.equal(manifest.capabilities.untrustedWorkspaces.supported, false);
  assert.equal(manifest.dependencies, undefined);
  assert.equal(manifest.engines.vscode, '^1.101.0');
  assert.deepEqual(
    manifest.contributes.mcpServerDefinitionProviders.map((one) => one.id),
    ['sightline'],
  );
});

test('the child gets the settings by its own names, the seven tools by default', () => {
  const world = reset();
  world.defaults = Object.fromEntries(
    Object.entries(properties).map(([key, one]) => [key, one.default]),
  );
  world.settings['mcpLspGateway.additionalAllowedRoots'] = ['/more', 'relative', 7];
  const settings = readSettings();
  assert.deepEqual(settings.child, {
    bind_address: '127.0.0.1',
    port: 3939,
    endpoint_path: '/mcp',
    allowed_origins: [],
    additional_allowed_roots: ['/more', 'relative', 7],
    enable_sessions: true,
    max_items_per_page: 200,
    max_response_bytes: 524288,
    request_timeout_ms: 2000,
    debug_logging: false,
    families: ['lsp'],
  });
  assert.deepEqual(settings.additionalRoots, ['/more']);
  assert.equal(settings.enabled, false);
});

test('the lock has hashes and no addresses', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { resolved?: string; integrity?: string }>;
  };
  for (const [name, one] of Object.entries(lock.packages)) {
    assert.equal(one.resolved, undefined, name);
    assert.ok(name === '' || one.integrity, name);
  }
});
