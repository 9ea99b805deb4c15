/** `npm run keys` with KV at Cloudflare, through wrangler, at a fake of Cloudflare's API. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import { wranglerNamespace } from '../../ops/keys.ts';
import { recordName } from '../../src/auth/key-record.ts';
import { type Api, startApi, TOKEN } from './cloudflare-api.ts';
import { fakeKv } from './kv-api.ts';
import { copyProject } from './project.ts';

const project = copyProject();
const kv = fakeKv();
const config = readConfig({ config: 'wrangler.toml', env: 'production' });
const namespaceId: string = config.kv_namespaces[0].id;
const production = wranglerNamespace('production');
let cloudflare: Api;

beforeAll(async () => {
  cloudflare = await startApi(kv.routes);
});
beforeEach(() => {
  kv.namespace(namespaceId).clear();
  cloudflare.calls.length = 0;
  for (const [name, value] of Object.entries(cloudflare.env)) vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());
afterAll(() => cloudflare.close());

test('the command stores a record; the key and the token are in no argument, log or file', async () => {
  // Every Node.js process of the command records its arguments, and wrangler writes its log.
  const preload = join(project.path(), 'record-arguments.mjs');
  const record = `import { appendFileSync } from 'node:fs';
    appendFileSync(new URL('arguments.txt', import.meta.url), process.argv.join(' '));`;
  await writeFile(preload, record);
  const args = ['create', '--label', 'Anna', '--env', 'production', '--yes', '--json'];
  const { code, stdout, stderr } = await project.run('keys.ts', args, {
    WRANGLER_LOG_PATH: join(project.path(), 'logs'),
    NODE_OPTIONS: `--import=${pathToFileURL(preload)}`,
  });
  expect([code, stderr]).toEqual([0, '']);

  const { key, id, createdAt } = JSON.parse(stdout);
  const path = `/accounts/${config.account_id}/storage/kv/namespaces/${namespaceId}/values`;
  expect(cloudflare.calls).toEqual([`PUT ${path}/${await recordName(key)}`]);
  const stored = kv.namespace(namespaceId).get(await recordName(key));
  const expected = { id, label: 'Anna', createdAt };
  expect([JSON.parse(stored?.value ?? ''), stored?.metadata]).toEqual([expected, expected]);

  const files = await readdir(project.path(), { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files
      .filter((file) => file.isFile() && !file.parentPath.includes('node_modules'))
      .map((file) => readFile(join(file.parentPath, file.name), 'utf8')),
  );
  expect(texts.some((text) => text.includes('record.json'))).toBe(true);
  for (const text of texts) {
    expect(text).not.toContain(key);
    expect(text).not.toContain(TOKEN);
  }
});

test('all pages of more than a thousand keys are listed, and a record is read unchanged', async () => {
  const [first, ...others] = Array.from(
    { length: 2500 },
    (_, i) => `key:${String(i).padStart(64, '0')}`,
  );
  const namespace = kv.namespace(namespaceId);
  for (const name of others) namespace.set(name, { value: '{}', metadata: { id: name } });
  namespace.set(first ?? '', { value: '{"id":"old"}', metadata: undefined });
  const listed = await production.list();
  expect(listed).toHaveLength(2500);
  expect(listed.at(-1)?.metadata).toEqual({ id: others.at(-1) });
  expect(JSON.parse(await production.get(first ?? ''))).toEqual({ id: 'old' });
});

test('a failure of the API is an error with its message, and nothing is written', async () => {
  cloudflare.tokens.clear();
  const record = { id: 'x', label: 'x', createdAt: '2026-11-20T00:00:00.000Z' };
  await expect(production.put('key:0', record)).rejects.toThrow('Invalid access token');
  cloudflare.tokens.add(TOKEN);
  expect(kv.namespace(namespaceId).size).toBe(0);
});

test('an environment with placeholders is not set up, and the error does not quote the token', async () => {
  vi.stubEnv('CLOUDFLARE_API_TOKEN', 'a\ntoken');
  const error = await wranglerNamespace('staging')
    .list()
    .catch((error) => error.message);
  expect(error).toMatch(/^staging is not set up\. See "First set-up" in docs\/operations\.md\. /);
  expect(error).not.toMatch(/a\s+token/);
});
