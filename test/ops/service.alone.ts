/** The newest commit without the client and the benchmarks, as "The service alone" in CONTRIBUTING.md says. */
import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { cloneCommit } from '../support/copy.ts';

const LINK = /\[([^\]]*)\]\([^)]*(?:client\/|BENCHMARKS)[^)]*\)/g;
const SCRIPT = /^.*npm run (?:example|bench|client|test:client|test:alone)\b.*\n/gm;

test('the service without client and benchmarks passes every check and test', async () => {
  const copy = await cloneCommit(PROJECT_ROOT);
  copy.git('rm', '-rq', 'client', 'bench', 'BENCHMARKS.md', 'test/ops/service.alone.ts');
  copy.edit('package.json', (text) => {
    const { workspaces, scripts, ...others } = JSON.parse(text);
    const kept = Object.entries(scripts).filter(
      (script) => !/client|bench\/|alone/.test(String(script)),
    );
    return JSON.stringify({ ...others, scripts: Object.fromEntries(kept) });
  });
  copy.edit('vitest.config.ts', (text) => text.replace(/^ {2}(?:client|alone): .*\n/gm, ''));
  copy.edit('.ci/run', (text) => text.replace(/^npm run test:(?:client|alone)\n/gm, ''));
  for (const document of globSync(['*.md', 'docs/**/*.md'], { cwd: copy.folder }))
    copy.edit(document, (text) => text.replace(LINK, '$1').replace(SCRIPT, ''));
  for (const line of [
    'install --package-lock-only',
    'run openapi',
    'run format',
    'run check',
    'test',
    'run test:kill',
  ])
    expect(copy.npm(line).status, line).toBe(0);
  expect(copy.git('diff', '--name-only', '--', 'public')).toBe('');
});
