/** Commands as real processes, in a copy of the project: see commands.test.ts. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPlaceholders } from '../support/placeholders.ts';
import { copyProject } from '../support/project.ts';

const project = copyProject();

test('a command on an environment that is not set up names the page to read', async () => {
  const config = join(project.path(), 'wrangler.toml');
  const original = await readFile(config, 'utf8');
  await writeFile(config, readPlaceholders());
  const { code, stderr } = await project.run('keys.ts', ['list', '--env', 'staging'], {
    CLOUDFLARE_API_BASE_URL: 'http://localhost:1',
    CLOUDFLARE_API_TOKEN: 'a-token',
  });
  await writeFile(config, original);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: .*See docs\/set-up\.md\. \(wrangler: .*\n$/);
});

test('openapi names a deleted file of src in one line', async () => {
  await rm(join(project.path(), 'src/pets'), { recursive: true });
  const { code, stdout, stderr } = await project.run('openapi.ts');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^error: Cannot find module '.*pets.*\n$/);
});
