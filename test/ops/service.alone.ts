/** A copy without the client and the benchmarks, by the steps of "The service alone" in docs/your-own.md. */
import { existsSync, globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { copyRepository } from '../support/copy.ts';

const LINK = /\[([^\]]*)\]\([^)]*(?:client\/|bench\/|BENCHMARKS)[^)]*\)/g;
const SCRIPT = /^.*npm run (?:example|bench|client|test:client|test:alone)\b.*\n/gm;
/** What names a folder that is removed. */
const REMOVED = /client|bench/;

/** Removes such names from the lists of a JSON file, and the overrides that apply to nothing else. */
const editJson = (text: string) =>
  JSON.stringify(
    JSON.parse(text, (_, value) => {
      if (!Array.isArray(value)) return value;
      return value.filter((each) => !REMOVED.test(each) && each.includes?.length !== 0);
    }),
  );

test('the service without client and benchmarks passes every check and test', async () => {
  const copy = await copyRepository();
  copy.git('rm', '-rq', 'client', 'bench', 'BENCHMARKS.md', 'test/ops/service.alone.ts');
  copy.edit('package.json', (text) => {
    const { workspaces, scripts, ...others } = JSON.parse(text);
    const kept = Object.entries(scripts).filter(
      (script) => !/client|bench\/|alone/.test(String(script)),
    );
    return JSON.stringify({ ...others, scripts: Object.fromEntries(kept) });
  });
  copy.edit('vitest.config.ts', (text) => text.replace(/^ {2}(?:client|alone): .*\n/gm, ''));
  copy.edit('.ci/run', (text) =>
    text.replace(/^npm run test:client\n/m, '').replace('test:alone', 'test:kill'),
  );
  copy.edit('.gitattributes', (text) => text.replace(/^client\/.*\n/gm, ''));
  for (const name of ['biome.json', 'tsconfig.json']) copy.edit(name, editJson);
  for (const document of globSync(['*.md', 'docs/**/*.md'], { cwd: copy.folder }))
    copy.edit(document, (text) => text.replace(LINK, '$1').replace(SCRIPT, ''));
  for (const line of ['install --package-lock-only', 'run openapi', 'run format'])
    await copy.npm(line);
  // As after `npm start`: git ignores the packages of the client, so `git rm` has left them.
  expect(existsSync(copy.path('client/node_modules'))).toBe(true);
  for (const line of ['run check', 'test', 'run test:kill']) await copy.npm(line);
});
