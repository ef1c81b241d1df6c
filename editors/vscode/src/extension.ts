// Where the editor begins and ends the extension.
import * as vscode from 'vscode';
import { Gateway } from './gateway';
import { registerServer } from './mcp';
import { redact } from './redact';
import { readSettings } from './settings';
import { CLIENTS, stanza, WHERE, type Client } from './stanzas';
import { showStatus, StatusItem } from './status';
import { MAX_TOKENS, newToken, splitTokens, Tokens } from './tokens';

let gateway: Gateway | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  // The manifest says so too; a host that does not look at it is stopped here.
  if (!vscode.workspace.isTrusted) return;
  const channel = vscode.window.createOutputChannel('Sightline');
  const held: string[] = [];
  const log = (line: string): void => {
    channel.appendLine(redact(line, held));
  };
  const bug = (error: unknown): void => {
    log(`bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  };
  const tokens = new Tokens(context.secrets, () => readSettings().secretStorageKey);
  const running = new Gateway(context, tokens, log, bug);
  gateway = running;
  const remember = async (): Promise<void> => {
    held.splice(0, held.length, ...(await tokens.stored().catch(() => [])));
  };
  context.subscriptions.push(
    channel,
    new StatusItem(running),
    registerServer(running, tokens),
    context.secrets.onDidChange(remember),
    running.onDidChange((state) => {
      log(state.is + ('why' in state ? `: ${state.why}` : ''));
    }),
    ...commands(running, tokens, channel),
  );
  await remember();
  await running.reconcile();
}

export async function deactivate(): Promise<void> {
  await gateway?.dispose();
  gateway = undefined;
}

function commands(
  running: Gateway,
  tokens: Tokens,
  channel: vscode.OutputChannel,
): vscode.Disposable[] {
  const register = (name: string, run: (...rest: unknown[]) => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(name, run);
  return [
    register('sightline.start', () => running.start()),
    register('sightline.stop', () => running.stop()),
    register('sightline.showStatus', () => showStatus(running)),
    register('sightline.showOutput', () => {
      channel.show(true);
    }),
    register('sightline.rotateTokens', async () => {
      await tokens.replace([newToken()]);
      void vscode.window.showInformationMessage(
        'Sightline has a new token. Clients with the old one are refused from now on; copy their configuration again.',
      );
    }),
    register('sightline.copyStanza', (client) => copyStanza(running, tokens, client)),
    register('mcpLspGateway.copyCodexConfigToml', () => copyStanza(running, tokens, 'Codex')),
    register('mcpLspGateway.setBearerTokens', () => setTokens(tokens)),
  ];
}

async function copyStanza(running: Gateway, tokens: Tokens, asked: unknown): Promise<void> {
  const client =
    CLIENTS.find((one) => one === asked) ??
    ((await vscode.window.showQuickPick(CLIENTS, {
      title: 'Copy the configuration for',
    })) as Client | undefined);
  if (!client) return;
  const [token] = await tokens.provide();
  await vscode.env.clipboard.writeText(stanza(client, running.url, token ?? ''));
  void vscode.window.showInformationMessage(
    `Copied for ${client}: paste it into ${WHERE[client]}. It holds the token.`,
  );
}

async function setTokens(tokens: Tokens): Promise<void> {
  const typed = await vscode.window.showInputBox({
    title: 'Set Bearer Token(s)',
    prompt: 'One or more tokens between commas or blanks. They replace the stored ones at once.',
    password: true,
    ignoreFocusOut: true,
    validateInput: (text) => {
      const count = splitTokens(text).length;
      return count >= 1 && count <= MAX_TOKENS ? undefined : `1 to ${MAX_TOKENS} tokens`;
    },
  });
  if (typed === undefined) return;
  await tokens.replace(splitTokens(typed));
  void vscode.window.showInformationMessage('The tokens are stored.');
}
