// The server as VS Code's own agent sees it. The token is handed out only when the server is used.
import * as vscode from 'vscode';
import type { Gateway } from './gateway';
import { REVISION } from './stanzas';
import type { Tokens } from './tokens';

const ID = 'sightline';

export function registerServer(gateway: Gateway, tokens: Tokens): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const follow = gateway.onDidChange(() => {
    changed.fire();
  });
  const provider: vscode.McpServerDefinitionProvider<vscode.McpHttpServerDefinition> = {
    onDidChangeMcpServerDefinitions: changed.event,
    provideMcpServerDefinitions: () => {
      if (gateway.state.is !== 'serving') return [];
      const uri = vscode.Uri.parse(gateway.url, true);
      return [new vscode.McpHttpServerDefinition('Sightline', uri, {}, gateway.state.version)];
    },
    resolveMcpServerDefinition: async (server) => {
      const [token] = await tokens.provide();
      server.headers = { ...REVISION, Authorization: `Bearer ${token ?? ''}` };
      return server;
    },
  };
  const registration = vscode.lm.registerMcpServerDefinitionProvider(ID, provider);
  return vscode.Disposable.from(registration, follow, changed);
}
