// Bundles the extension into one file, or each test with the fake editor in place of the real one.
import { build, context } from 'esbuild';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';

const flags = new Set(process.argv.slice(2));
const common = {
  bundle: true,
  platform: 'node',
  target: 'node22',
  format: 'cjs',
  logLevel: 'warning',
};
const extension = {
  ...common,
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  external: ['vscode'],
  minify: flags.has('--production'),
  sourcemap: !flags.has('--production'),
};
const tests = {
  ...common,
  entryPoints: readdirSync('test')
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name}`),
  outdir: 'out',
  outExtension: { '.js': '.cjs' },
  alias: { vscode: './test/fake/vscode.ts' },
  sourcemap: 'inline',
};

if (flags.has('--watch')) {
  await (await context(extension)).watch();
  const types = ['node_modules/typescript/bin/tsc', '--noEmit', '--watch', '--preserveWatchOutput'];
  spawn(process.execPath, types, { stdio: 'inherit' });
} else {
  await build(flags.has('--tests') ? tests : extension);
}
