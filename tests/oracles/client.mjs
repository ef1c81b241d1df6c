// The visit of tests/oracles/visits.py, made with the official TypeScript client.
// usage: node client.mjs MODULES CONFIG-JSON; prints one JSON object.
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [modules, text] = process.argv.slice(2);
const config = JSON.parse(text);
const load = (file) => import(pathToFileURL(`${modules}/@modelcontextprotocol/client/dist/${file}`));
const { Client, StreamableHTTPClientTransport } = await load('index.mjs');
const { StdioClientTransport } = await load('stdio.mjs');

const transport = config.url
  ? new StreamableHTTPClientTransport(new URL(config.url), {
      requestInit: { headers: { Authorization: `Bearer ${config.token}` } },
    })
  : new StdioClientTransport({
      command: config.command[0],
      args: config.command.slice(1),
      env: config.env,
      cwd: config.cwd,
      stderr: 'ignore',
    });

const options = config.probe ? { versionNegotiation: { mode: 'auto' } } : {};
const client = new Client({ name: 'tests', version: '1' }, options);
const problems = [];
client.onerror = (error) => problems.push(String(error));

async function patiently(name, args, more) {
  for (let tries = 0; ; tries++) {
    try {
      return await client.callTool({ name, arguments: args }, more);
    } catch (error) {
      if (tries === 60 || !error.data?.details?.retryable) throw error;
    }
  }
}

await client.connect(transport);
const seen = {
  server: client.getServerVersion().name,
  revision: client.getNegotiatedProtocolVersion(),
  instructed: Boolean(client.getInstructions()),
  tools: (await client.listTools()).tools.map((tool) => tool.name),
};
const definition = await patiently('vscode.lsp.definition', config.place);
seen.definition = definition.structuredContent;
seen.content = definition.content;
seen.pages = [];
let cursor;
do {
  const page = await patiently('vscode.lsp.references', {
    ...config.place,
    includeDeclaration: true,
    pageSize: 2,
    ...(cursor ? { cursor } : {}),
  });
  seen.pages.push(page.structuredContent.items);
  cursor = page.structuredContent.nextCursor;
} while (cursor);
try {
  await client.callTool({ name: 'vscode.lsp.definition', arguments: config.outside });
} catch (error) {
  seen.error = { code: error.code, message: error.message, data: error.data };
}
seen.ping = await client.ping();
seen.progress = [];
const told = await patiently('vscode.lsp.definition', config.another, {
  onprogress: (report) => {
    seen.progress.push(report);
    writeFileSync(config.heard, '');
  },
});
seen.afterProgress = told.structuredContent;
await client.close();
seen.problems = problems;
console.log(JSON.stringify(seen));
