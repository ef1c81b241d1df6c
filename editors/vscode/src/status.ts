// What people see: an item in the status bar, messages, and a menu of what can be done.
import * as vscode from 'vscode';
import type { Gateway, State } from './gateway';
import { INSTALL } from './program';

const PROGRAM_CODES = new Set(['program', 'old', 'gone']);

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem(
    'sightline.status',
    vscode.StatusBarAlignment.Right,
    50,
  );
  private readonly subscription: vscode.Disposable;

  constructor(gateway: Gateway) {
    this.item.name = 'Sightline';
    this.item.command = 'sightline.showStatus';
    this.subscription = gateway.onDidChange((state) => {
      this.show(state);
      void tell(state);
    });
    this.show(gateway.state);
    this.item.show();
  }

  dispose(): void {
    this.subscription.dispose();
    this.item.dispose();
  }

  private show(state: State): void {
    this.item.text = `${ICONS[state.is]} Sightline${state.is === 'serving' ? ` :${state.port}` : ''}`;
    this.item.tooltip = sentence(state);
    this.item.backgroundColor =
      state.is === 'failed' ? new vscode.ThemeColor('statusBarItem.errorBackground') : undefined;
  }
}

const ICONS: Record<State['is'], string> = {
  off: '$(circle-slash)',
  starting: '$(sync~spin)',
  serving: '$(telescope)',
  failed: '$(error)',
};

export function sentence(state: State): string {
  switch (state.is) {
    case 'off':
      return `Sightline is off: ${state.why}.`;
    case 'starting':
      return 'Sightline is starting.';
    case 'serving':
      return `Sightline ${state.version} serves this window on port ${state.port}.`;
    case 'failed':
      return `Sightline does not serve: ${state.why}.`;
  }
}

/** A failure is said aloud, with the one thing to do about it. */
async function tell(state: State): Promise<void> {
  if (state.is !== 'failed') return;
  if (PROGRAM_CODES.has(state.code)) {
    const copy = 'Copy Install Command';
    const chosen = await vscode.window.showErrorMessage(
      `${sentence(state)} In a clone of Sightline run: ${INSTALL}`,
      copy,
      'Show Output',
    );
    if (chosen === copy) await vscode.env.clipboard.writeText(INSTALL);
    else if (chosen) await vscode.commands.executeCommand('sightline.showOutput');
    return;
  }
  const chosen = await vscode.window.showErrorMessage(sentence(state), 'Show Output');
  if (chosen) await vscode.commands.executeCommand('sightline.showOutput');
}

interface Item extends vscode.QuickPickItem {
  command?: string;
}

export async function showStatus(gateway: Gateway): Promise<void> {
  const { state } = gateway;
  const running = state.is === 'serving' || state.is === 'starting';
  const items: Item[] = [
    running
      ? { label: '$(debug-stop) Stop', command: 'sightline.stop' }
      : { label: '$(play) Start', command: 'sightline.start' },
    { label: '$(copy) Copy client configuration', command: 'sightline.copyStanza' },
    { label: '$(key) Rotate tokens', command: 'sightline.rotateTokens' },
    { label: '$(output) Show output', command: 'sightline.showOutput' },
  ];
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Sightline',
    placeHolder: sentence(state),
  });
  if (chosen?.command) await vscode.commands.executeCommand(chosen.command);
}
