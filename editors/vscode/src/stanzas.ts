// What to paste into a client so that it finds the server. Each holds the token.

/** The server asks every request for its revision. Some clients do not say it by themselves. */
export const REVISION = { 'MCP-Protocol-Version': '2025-11-25' };

export const CLIENTS = ['Codex', 'Claude Code', 'Gemini CLI', 'Plain JSON'] as const;
export type Client = (typeof CLIENTS)[number];

export const WHERE: Record<Client, string> = {
  Codex: '~/.codex/config.toml',
  'Claude Code': '~/.claude.json',
  'Gemini CLI': '~/.gemini/settings.json',
  'Plain JSON': "the client's list of MCP servers",
};

export function stanza(client: Client, url: string, token: string): string {
  const headers = { Authorization: `Bearer ${token}` };
  switch (client) {
    case 'Codex':
      return [
        '[mcp_servers.sightline]',
        `url = ${JSON.stringify(url)}`,
        `http_headers = { "Authorization" = ${JSON.stringify(headers.Authorization)} }`,
        '',
      ].join('\n');
    case 'Gemini CLI':
      return json({
        mcpServers: { sightline: { httpUrl: url, headers: { ...headers, ...REVISION } } },
      });
    // A command for the terminal would leave the token in its history.
    case 'Claude Code':
    case 'Plain JSON':
      return json({
        mcpServers: { sightline: { type: 'http', url, headers: { ...headers, ...REVISION } } },
      });
  }
}

const json = (value: unknown): string => JSON.stringify(value, null, 2) + '\n';
