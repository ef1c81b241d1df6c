// A headless browser that shows the editor, moved by a test over standard input and output: one
// JSON line {id, do, ...} in, one {id, result} or {id, error} out. It ends with its input.
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';

const [modules, executablePath] = process.argv.slice(2);
const { chromium } = createRequire(modules + '/')('playwright-core');
const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP * 127.0.0.1'],
});
const context = await browser.newContext({
  viewport: { width: 1280, height: 800 },
  permissions: ['clipboard-read', 'clipboard-write'],
});
let page;

const actions = {
  async open({ url }) {
    page = await context.newPage();
    page.on('dialog', (dialog) => dialog.accept().catch(() => undefined));
    await page.goto(url);
    await page.waitForSelector('.monaco-workbench .statusbar', { timeout: 60_000 });
  },
  async reload() {
    await page.reload();
    await page.waitForSelector('.monaco-workbench .statusbar', { timeout: 60_000 });
  },
  async screenshot({ path }) {
    await page.screenshot({ path });
  },
  async press({ keys }) {
    await page.keyboard.press(keys);
  },
  async type({ text }) {
    await page.keyboard.type(text);
  },
  async click({ selector }) {
    await page.click(selector, { timeout: 20_000 });
  },
  async hover({ selector }) {
    await page.hover(selector, { timeout: 20_000 });
  },
  async wait({ selector }) {
    await page.waitForSelector(selector, { timeout: 20_000 });
  },
  async text({ selector }) {
    return page.textContent(selector, { timeout: 20_000 });
  },
  async command({ title }) {
    // The list is made when the palette opens. A command that is registered later, as some are while
    // a window starts, is only seen by whoever opens it again.
    const row = `.quick-input-list .monaco-list-row[aria-label*="${title}"]`;
    for (const end = Date.now() + 40_000; ; ) {
      // A palette that is still closing would be closed, not opened, by the key.
      await page.waitForSelector('.quick-input-widget', { state: 'hidden', timeout: 20_000 });
      await page.keyboard.press('F1');
      await page.waitForSelector('.quick-input-widget input', { timeout: 20_000 });
      await page.fill('.quick-input-widget input', '>' + title);
      try {
        await page.click(row, { timeout: 4_000 });
        return;
      } catch (problem) {
        if (Date.now() > end) throw problem;
        await page.press('.quick-input-widget input', 'Escape');
      }
    }
  },
  async close({ dirty }) {
    await page.close({ runBeforeUnload: Boolean(dirty) });
  },
};

const say = (message) => process.stdout.write(JSON.stringify(message) + '\n');
say({ id: 0, result: { browser: browser.version() } });
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  try {
    const result = await actions[request.do](request);
    say({ id: request.id, result: result === undefined ? null : result });
  } catch (error) {
    say({ id: request.id, error: String(error && error.message) });
  }
}
await browser.close();
