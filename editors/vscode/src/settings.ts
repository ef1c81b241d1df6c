// The settings, read once per start. All are machine-scoped: no workspace can change them.
import * as path from 'node:path';
import * as vscode from 'vscode';

export interface Settings {
  enabled: boolean;
  secretStorageKey: string;
  path: string;
  acceptUnproven: boolean;
  additionalRoots: string[];
  port: number;
  /** What the child is told, by its own names. It checks every value and refuses bad ones. */
  child: Record<string, unknown>;
}

/** The child's name of each setting that is the child's business. */
const CHILD_NAMES: Record<string, string> = {
  bindAddress: 'bind_address',
  port: 'port',
  endpointPath: 'endpoint_path',
  allowedOrigins: 'allowed_origins',
  enableSessions: 'enable_sessions',
  maxItemsPerPage: 'max_items_per_page',
  maxResponseBytes: 'max_response_bytes',
  requestTimeoutMs: 'request_timeout_ms',
  debugLogging: 'debug_logging',
};

export function readSettings(): Settings {
  const gateway = vscode.workspace.getConfiguration('mcpLspGateway');
  const own = vscode.workspace.getConfiguration('sightline');
  const child: Record<string, unknown> = {};
  for (const [key, name] of Object.entries(CHILD_NAMES)) child[name] = gateway.get(key);
  const roots = gateway.get<unknown>('additionalAllowedRoots', []);
  const additionalRoots = texts(roots).filter((root) => path.isAbsolute(root));
  child.additional_allowed_roots = roots;
  child.families = own.get('families');
  return {
    enabled: gateway.get('enabled') === true,
    secretStorageKey: gateway.get('secretStorageKey', 'mcpLspGateway.authTokens'),
    path: own.get('path', ''),
    acceptUnproven: own.get('acceptUnproven') === true,
    additionalRoots,
    port: gateway.get('port', 3939),
    child,
  };
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
