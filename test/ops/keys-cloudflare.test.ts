/** `npm run keys` on Cloudflare's KV, by a fake of its API. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readTarget } from '../../ops/release/target.ts';
import { environmentOfKey } from '../../src/keys/format.ts';
import { recordName } from '../../src/keys/record.ts';
import { type Api, startApi, TOKEN } from './cloudflare/api.ts';
import { fakeKv } from './cloudflare/kv.ts';
import { keysCommand, type Listed, type NewKey } from './keys-command.ts';
import { copyProject } from './project.ts';

const project = copyProject();
const { keys, json } = keysCommand(project);

const { accountId, namespaceId } = readTarget('production');
const kv = fakeKv();
let cloudflare: Api;
let env: Record<string, string>;

beforeAll(async () => {
  cloudflare = await startApi(kv.routes);
  // Every Node process of the command writes its arguments down, and wrangler its log.
  await writeFile(
    join(project.path(), 'record-arguments.mjs'),
    `import { appendFileSync } from 'node:fs';
     appendFileSync(new URL('arguments.txt', import.meta.url), process.argv.join('\\n') + '\\n');`,
  );
  env = {
    ...cloudflare.env,
    WRANGLER_LOG_PATH: join(project.path(), 'logs'),
    NODE_OPTIONS: `--import=${new URL(`file://${project.path()}/record-arguments.mjs`)}`,
  };
});
beforeEach(() => {
  kv.namespace(namespaceId).clear();
  cloudflare.calls.length = 0;
});
afterAll(() => cloudflare.close());

const production = (...args: string[]) => [...args, '--env', 'production', '--yes'];

test('a key is stored as its record under its hash, in the value and the metadata', async () => {
  const { key, ...shown } = await json<NewKey>(production('create', '--label', 'Anna'), env);
  expect(environmentOfKey(key)).toBe('production');
  const name = recordName(key);
  const path = `/accounts/${accountId}/storage/kv/namespaces/${namespaceId}/values/${name}`;
  expect(cloudflare.calls).toEqual([`PUT ${path}`]);
  const record = { id: shown.id, label: 'Anna', createdAt: shown.createdAt };
  const stored = kv.namespace(namespaceId).get(name);
  expect(JSON.parse(stored?.value ?? '')).toEqual(record);
  expect(stored?.metadata).toEqual(record);
});

test('a rotated key stays in the family of the first one', async () => {
  const created = await json<NewKey>(production('create', '--label', 'Anna'), env);
  const second = await json<NewKey>(production('rotate', created.id), env);
  const third = await json<NewKey>(production('rotate', second.id), env);
  const families = [created, second, third].map(({ key }) => {
    const stored = kv.namespace(namespaceId).get(recordName(key));
    return JSON.parse(stored?.value ?? '').family;
  });
  expect(families).toEqual([undefined, created.id, created.id]);
});

test('a key without the scope write has its scope in the record, and so has the key after a rotation', async () => {
  const reader = await json<NewKey>(
    production('create', '--label', 'Anna', '--read-only', '--expires', '90d'),
    env,
  );
  const rotated = await json<NewKey>(production('rotate', reader.id), env);
  const stored = [reader, rotated].map(({ key }) => kv.namespace(namespaceId).get(recordName(key)));
  expect(stored.map((each) => each?.metadata)).toEqual([
    expect.objectContaining({ id: reader.id, scopes: ['read'] }),
    expect.objectContaining({ id: rotated.id, scopes: ['read'] }),
  ]);
  for (const each of stored) expect(JSON.parse(each?.value ?? '')).toEqual(each?.metadata);
});

test('the key is in no argument, log or file', async () => {
  const { key } = await json<NewKey>(production('create', '--label', 'Anna'), env);
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

test('more than a thousand keys are listed', async () => {
  for (let i = 0; i < 2500; i += 1) {
    const record = { id: `key_${i}`, label: 'x', createdAt: '2026-11-20T00:00:00.000Z' };
    const name = `key:${String(i).padStart(64, '0')}`;
    kv.namespace(namespaceId).set(name, { value: JSON.stringify(record), metadata: record });
  }
  expect(await json<Listed[]>(['list', '--env', 'production'], env)).toHaveLength(2500);
  expect(cloudflare.calls.filter((call) => call.endsWith('/keys'))).toHaveLength(3);
});

test('a record without metadata is read, and what we do not know of it is kept', async () => {
  const record = { id: 'old', label: 'x', createdAt: '2026-11-20T00:00:00.000Z', plan: 'gold' };
  const name = `key:${'0'.repeat(64)}`;
  kv.namespace(namespaceId).set(name, { value: JSON.stringify(record), metadata: undefined });
  await keys(production('revoke', 'old'), env);
  const stored = kv.namespace(namespaceId).get(name);
  expect(JSON.parse(stored?.value ?? '')).toEqual({ ...record, revokedAt: expect.any(String) });
  expect(stored?.metadata).toEqual(JSON.parse(stored?.value ?? ''));
});

test('something that is no record does not keep a key from being revoked', async () => {
  const { id, key } = await json<NewKey>(production('create', '--label', 'Anna'), env);
  const garbage = { value: '{', metadata: { expiresAt: '+021192-03-20T00:00:00.000Z' } };
  kv.namespace(namespaceId).set(`key:${'f'.repeat(64)}`, garbage);
  const { code, stderr } = await project.run('keys.ts', production('revoke', id), env);
  expect([code, stderr]).toEqual([
    0,
    'warning: KV holds something that is no record under key:ffffffffffff…\n',
  ]);
  const stored = kv.namespace(namespaceId).get(recordName(key));
  expect(JSON.parse(stored?.value ?? '')).toMatchObject({ revokedAt: expect.any(String) });
});

test('production is not touched without being asked', async () => {
  const { id } = await json<NewKey>(production('create', '--label', 'Anna'), env);
  const before = JSON.stringify([...kv.namespace(namespaceId)]);
  for (const args of [
    ['create', '--label', 'x'],
    ['revoke', id],
    ['rotate', id],
  ]) {
    const { code, stdout, stderr } = await project.run(
      'keys.ts',
      [...args, '--env', 'production'],
      env,
    );
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^error: to .* in production without being asked, add --yes\n$/);
  }
  expect(JSON.stringify([...kv.namespace(namespaceId)])).toBe(before);
});

test('a failing API is one clear line and the exit code 1', async () => {
  cloudflare.failNext(/^PUT/);
  const { code, stdout, stderr } = await project.run(
    'keys.ts',
    production('create', '--label', 'x'),
    env,
  );
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^error: wrangler: .*internal error.*\n$/);
  expect(kv.namespace(namespaceId).size).toBe(0);
});

test('a rotation that fails half-way has printed the new key, and says how it stands', async () => {
  const { id } = await json<NewKey>(production('create', '--label', 'Anna'), env);
  const [name] = [...kv.namespace(namespaceId).keys()];
  cloudflare.failNext(new RegExp(`^PUT .*${name}$`));
  const { code, stdout, stderr } = await project.run(
    'keys.ts',
    production('rotate', id, '--json'),
    env,
  );
  expect(code).toBe(1);
  expect(kv.namespace(namespaceId).has(recordName(JSON.parse(stdout).key))).toBe(true);
  expect(stderr).toContain(`the new key is issued, but the old one, ${id}, stays as it was`);
});

test('a wrong token, or none, is one clear line', async () => {
  for (const token of ['wrong', '']) {
    const wrong = { ...env, CLOUDFLARE_API_TOKEN: token };
    const { code, stderr } = await project.run('keys.ts', ['list', '--env', 'staging'], wrong);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: wrangler: .*\n$/);
  }
});
