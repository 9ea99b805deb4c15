/** Wrangler accepts each command of the pages, up to its first request to Cloudflare. */
import { execFile } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cloneProject } from '../ops/clone.ts';

const { folder, remove } = await cloneProject(false);
afterAll(remove);

const pages = globSync(['*.md', 'docs/**/*.md']).map((path) => readFileSync(path, 'utf8'));

/** Those that act on an environment, until the end of their code or a pipe. */
const commands = pages.flatMap(
  (page) => page.match(/(?<=`|^ *)npx wrangler (?=[^`\n]* --env )[^`|\n]*/gm) ?? [],
);

const VERSION = '11111111-1111-4111-8111-111111111111';

/** Without placeholders. */
const fill = (command: string) =>
  command.replace('<time>', '2026-11-20T09:30:00Z').replaceAll(/<[\w']+>/g, VERSION);

beforeAll(() => {
  // The files that other commands of the pages have written.
  for (const name of ['ids', 'rows', 'one', 'import'])
    writeFileSync(join(folder, `${name}.sql`), 'SELECT 1;');
  writeFileSync(join(folder, 'bulk.json'), '[{"key":"key:a","value":"{}"}]');
});

test.concurrent.each([...new Set(commands.map(fill))])('%s', async (command) => {
  const env = {
    ...process.env,
    CLOUDFLARE_API_TOKEN: 'token',
    // Nothing listens there.
    CLOUDFLARE_API_BASE_URL: 'http://127.0.0.1:1/client/v4',
  };
  const script = `exec </dev/null
    npx() { shift; node node_modules/wrangler/bin/wrangler.js "$@"; }
    git() { echo commit; }
    ${command}`;
  const options = { cwd: folder, env };
  const failed = promisify(execFile)('bash', ['-c', script], options);
  await expect(failed).rejects.toMatchObject({
    stderr: expect.stringMatching(/fetch failed|A request to the Cloudflare API failed/),
  });
});
