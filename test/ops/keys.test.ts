import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { environmentOfKey } from '../../src/keys/format.ts';
import { recordName } from '../../src/keys/record.ts';
import { type FakeCloudflare, startFakeCloudflare, TOKEN } from './fake-cloudflare.ts';
import { copyProject } from './project.ts';

const project = copyProject();

type NewKey = {
  id: string;
  key: string;
  label: string;
  createdAt: string;
  expiresAt: string | null;
};
type Listed = Omit<NewKey, 'key'> & { state: string };

const DAY = 86_400_000;

/** Runs `npm run keys -- …` and expects it to succeed. */
async function keys(args: string[], env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await project.run('keys.ts', args, env);
  expect(code, stderr).toBe(0);
  return stdout;
}

async function json<T>(args: string[], env?: Record<string, string>): Promise<T> {
  return JSON.parse(await keys([...args, '--json'], env)) as T;
}

test('a key’s life in the local store: created, listed, rotated, revoked', async () => {
  const created = await json<NewKey>(['create', '--label', 'Anna’s shop 🐈', '--expires', '90d']);
  expect(Object.keys(created)).toEqual(['id', 'key', 'label', 'createdAt', 'expiresAt']);
  expect(environmentOfKey(created.key)).toBe('local');
  const lifetime = Date.parse(created.expiresAt ?? '') - Date.parse(created.createdAt);
  expect(Math.abs(lifetime - 90 * DAY)).toBeLessThan(5_000);

  const printed = await keys(['create', '--label', 'Bob', '--expires', '2100-01-31']);
  expect(printed).toMatch(
    /^Key key_\w+ \(Bob\) for local, expires 2100-01-31T23:59:59\.999Z:\n\n {2}animal_local_\w{36}\n/,
  );
  expect(printed).toContain('cannot be shown again');

  const rotated = await json<NewKey>(['rotate', created.id, '--overlap', '15m']);
  expect(rotated.key).not.toBe(created.key);
  expect(rotated).toMatchObject({ label: 'Anna’s shop 🐈', expiresAt: expect.any(String) });

  for (const time of [1, 2]) {
    const said = await keys(['revoke', rotated.id]);
    expect(said).toContain(time === 1 ? 'Within about two minutes' : 'was revoked already');
  }

  const listed = await json<Listed[]>(['list']);
  expect(listed.map(({ label, state }) => [label, state])).toEqual([
    ['Anna’s shop 🐈', 'active'],
    ['Bob', 'active'],
    ['Anna’s shop 🐈', 'revoked'],
  ]);
  const overlap = Date.parse(listed[0]?.expiresAt ?? '') - Date.parse(rotated.createdAt);
  expect(Math.abs(overlap - 900_000)).toBeLessThan(10_000);

  const table = await keys(['list']);
  for (const { id, label, createdAt, state } of listed) {
    expect(table).toMatch(new RegExp(`${id}.*${label}.*${createdAt}.*${state}`));
  }
  for (const { key } of [created, rotated]) {
    for (const output of [table, JSON.stringify(listed)]) {
      expect(output).not.toContain(key);
      expect(output).not.toContain((await recordName(key)).slice('key:'.length));
    }
  }
  const twice = await project.run('keys.ts', ['rotate', created.id]);
  expect(twice).toMatchObject({
    code: 1,
    stderr: `error: key ${created.id} was rotated already: rotate ${rotated.id} instead\n`,
  });
  const again = await project.run('keys.ts', ['rotate', rotated.id]);
  expect(again).toMatchObject({
    code: 1,
    stderr: `error: key ${rotated.id} is revoked: create a new one\n`,
  });
}, 60_000);

describe('wrong arguments make one line and the exit code 2', () => {
  test.each([
    [[], 'error: name a command (create, list, revoke, rotate), or --help'],
    [['create', '--label', 'a\u202eb'], 'without control characters'],
    [['create', '--label', 'x', '--expires', '999999w'], 'It is a duration such as 90d'],
    [['create'], "error: required option '--label <text>' not specified"],
    [['create', '--label', ''], "error: option '--label <text>' argument '' is invalid."],
    [['create', '--label', 'x'.repeat(101)], 'A label is 1 to 100 characters'],
    [['create', '--label', 'a\nb'], 'without control characters'],
    [['create', '--label', 'x', '--expires', 'soon'], 'It is a duration such as 90d, or a date'],
    [['create', '--label', 'x', '--expires', '2027-02-30'], 'or a date such as 2027-01-31'],
    [['create', '--label', 'x', '--expires', '2020-01-01'], 'That is not in the future.'],
    [['create', '--label', 'x', '--expires', '0s'], 'That is not in the future.'],
    [['create', '--label', 'x', 'y'], 'error: too many arguments'],
    [
      ['create', '--label', 'x', '--env', 'test'],
      'Allowed choices are local, staging, production.',
    ],
    [['list', '--jsno'], "error: unknown option '--jsno' (Did you mean --json?)"],
    [['revoke'], "error: missing required argument 'id'"],
    [['rotate', 'x', '--overlap', '1'], 'It is a duration such as 15m, 24h or 7d.'],
    [['remove', 'x'], "error: unknown command 'remove'"],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await project.run('keys.ts', args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  test('but --help of each command is no error', async () => {
    for (const command of ['create', 'list', 'revoke', 'rotate']) {
      expect(await keys([command, '--help'])).toMatch(
        new RegExp(`^Usage: npm run keys -- ${command} `),
      );
    }
    expect(await keys(['--help'])).toContain('Commands:');
  });

  test('an id that nobody has is a failure', async () => {
    for (const command of ['revoke', 'rotate']) {
      expect(await project.run('keys.ts', [command, 'key_none'])).toMatchObject({
        code: 1,
        stdout: '',
        stderr: 'error: there is no key with the id "key_none" in local\n',
      });
    }
  });
});

describe('on Cloudflare', () => {
  const NAMESPACE = 'production-api-keys-id';
  let cloudflare: FakeCloudflare;
  let env: Record<string, string>;

  beforeAll(async () => {
    cloudflare = await startFakeCloudflare();
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
    cloudflare.namespace(NAMESPACE).clear();
    cloudflare.calls.length = 0;
  });
  afterAll(() => cloudflare.close());

  const production = (...args: string[]) => [...args, '--env', 'production', '--yes'];

  test('a key is stored as its record under its hash, in the value and the metadata', async () => {
    const { key, ...shown } = await json<NewKey>(production('create', '--label', 'Anna'), env);
    expect(environmentOfKey(key)).toBe('production');
    const name = await recordName(key);
    const path = `/accounts/production-account-id/storage/kv/namespaces/${NAMESPACE}/values/${name}`;
    expect(cloudflare.calls).toEqual([`PUT ${path}`]);
    const record = { id: shown.id, label: 'Anna', createdAt: shown.createdAt };
    const stored = cloudflare.namespace(NAMESPACE).get(name);
    expect(JSON.parse(stored?.value ?? '')).toEqual(record);
    expect(stored?.metadata).toEqual(record);
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
      cloudflare
        .namespace(NAMESPACE)
        .set(name, { value: JSON.stringify(record), metadata: record });
    }
    expect(await json<Listed[]>(['list', '--env', 'production'], env)).toHaveLength(2500);
    expect(cloudflare.calls.filter((call) => call.endsWith('/keys'))).toHaveLength(3);
  });

  test('a record without metadata is read, and what we do not know of it is kept', async () => {
    const record = { id: 'old', label: 'x', createdAt: '2026-11-20T00:00:00.000Z', plan: 'gold' };
    const name = `key:${'0'.repeat(64)}`;
    cloudflare
      .namespace(NAMESPACE)
      .set(name, { value: JSON.stringify(record), metadata: undefined });
    await keys(production('revoke', 'old'), env);
    const stored = cloudflare.namespace(NAMESPACE).get(name);
    expect(JSON.parse(stored?.value ?? '')).toEqual({ ...record, revokedAt: expect.any(String) });
    expect(stored?.metadata).toEqual(JSON.parse(stored?.value ?? ''));
  });

  test('something that is no record does not keep a key from being revoked', async () => {
    const { id, key } = await json<NewKey>(production('create', '--label', 'Anna'), env);
    const garbage = { value: '{', metadata: { expiresAt: '+021192-03-20T00:00:00.000Z' } };
    cloudflare.namespace(NAMESPACE).set(`key:${'f'.repeat(64)}`, garbage);
    const { code, stderr } = await project.run('keys.ts', production('revoke', id), env);
    expect([code, stderr]).toEqual([
      0,
      'warning: KV holds something that is no record under key:ffffffffffff…\n',
    ]);
    const stored = cloudflare.namespace(NAMESPACE).get(await recordName(key));
    expect(JSON.parse(stored?.value ?? '')).toMatchObject({ revokedAt: expect.any(String) });
  });

  test('production is not touched without being asked', async () => {
    const { id } = await json<NewKey>(production('create', '--label', 'Anna'), env);
    const before = JSON.stringify([...cloudflare.namespace(NAMESPACE)]);
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
    expect(JSON.stringify([...cloudflare.namespace(NAMESPACE)])).toBe(before);
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
    expect(cloudflare.namespace(NAMESPACE).size).toBe(0);
  });

  test('a rotation that fails half-way has printed the new key, and says how it stands', async () => {
    const { id } = await json<NewKey>(production('create', '--label', 'Anna'), env);
    const [name] = [...cloudflare.namespace(NAMESPACE).keys()];
    cloudflare.failNext(new RegExp(`^PUT .*${name}$`));
    const { code, stdout, stderr } = await project.run(
      'keys.ts',
      production('rotate', id, '--json'),
      env,
    );
    expect(code).toBe(1);
    expect(cloudflare.namespace(NAMESPACE).has(await recordName(JSON.parse(stdout).key))).toBe(
      true,
    );
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
});
