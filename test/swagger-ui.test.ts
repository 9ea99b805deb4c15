/** The copies of Swagger UI in public/docs (Apache-2.0). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../ops/wrangler.ts';

const read = (path: string) => readFile(join(PROJECT_ROOT, path), 'utf8');
const original = (name: string) => read(`node_modules/swagger-ui-dist/${name}`);
const copy = (name: string) => read(`public/docs/${name}`);

test('the changed copy has a notice of the change and the licence in its first line', async () => {
  const [notice = '', ...rest] = (await copy('swagger-ui.css')).split('\n');
  expect(notice).toMatch(/^\/\*! Changed .*Apache-2\.0.*swagger-ui-LICENSE\.txt.*\*\/$/);
  expect(await original('swagger-ui.css')).toContain('sourceMappingURL');
  expect(rest.join('\n')).not.toContain('sourceMappingURL');
});

test.each([
  ['swagger-ui-bundle.js', 'swagger-ui-bundle.js'],
  ['swagger-ui-bundle.js.LICENSE.txt', 'swagger-ui-bundle.js.LICENSE.txt'],
  ['LICENSE', 'swagger-ui-LICENSE.txt'],
  ['NOTICE', 'swagger-ui-NOTICE.txt'],
])('%s is served unchanged, as %s', async (name, served) => {
  expect((await copy(served)) === (await original(name))).toBe(true);
});
