import { beforeEach, describe, expect, test } from 'vitest';
import { environmentOfKey } from '../../src/auth/keys/format.ts';
import { recordName } from '../../src/auth/keys/record.ts';
import { keysCommand, type Listed, type NewKey } from './keys-command.ts';

let { namespaces, run, keys, json, failPut } = keysCommand();
beforeEach(() => {
  ({ namespaces, run, keys, json, failPut } = keysCommand());
});

const DAY = 86_400_000;
const production = ['--env', 'production', '--yes'];

test('create prints the key once, with its id, scopes and lifetime', async () => {
  const created = await json<NewKey>('create', '--label', 'Anna’s shop 🐈', '--expires', '90d');
  expect(Object.keys(created)).toEqual(['id', 'key', 'label', 'scopes', 'createdAt', 'expiresAt']);
  expect(environmentOfKey(created.key)).toBe('local');
  const lifetime = Date.parse(created.expiresAt ?? '') - Date.parse(created.createdAt);
  expect(Math.abs(lifetime - 90 * DAY)).toBeLessThan(10_000);

  const printed = await keys('create', '--label', 'Bob', '--expires', '2100-01-31');
  expect(printed).toMatch(
    /^Key key_\w+ \(Bob\) for local, scopes read and write, expires 2100-01-31T23:59:59\.999Z:\n\n {2}animal_local_\w{36}\n/,
  );
  expect(printed).toContain('cannot be shown again');
});

test('a key is stored as its record under its hash, in the value and the metadata', async () => {
  const { key, ...shown } = await json<NewKey>('create', '--label', 'Anna', ...production);
  expect(environmentOfKey(key)).toBe('production');
  const record = { id: shown.id, label: 'Anna', createdAt: shown.createdAt };
  expect([...namespaces.production]).toEqual([
    [await recordName(key), { value: JSON.stringify(record), metadata: record }],
  ]);
  expect([namespaces.local.size, namespaces.staging.size]).toEqual([0, 0]);
});

test('list shows every key with its state, and never a key or its hash', async () => {
  const { id, ...first } = await json<NewKey>('create', '--label', 'Anna');
  const second = await json<NewKey>('rotate', id, '--overlap', '15m');
  await keys('revoke', second.id);

  const listed = await json<Listed[]>('list');
  expect(listed.map(({ label, state }) => [label, state])).toEqual([
    ['Anna', 'active'],
    ['Anna', 'revoked'],
  ]);
  const overlap = Date.parse(listed[0]?.expiresAt ?? '') - Date.parse(second.createdAt);
  expect(Math.abs(overlap - 900_000)).toBeLessThan(10_000);
  const table = await keys('list');
  for (const { id, label, createdAt, state } of listed) {
    expect(table).toMatch(new RegExp(`${id}.*${label}.*${createdAt}.*${state}`));
  }
  for (const output of [table, JSON.stringify(listed)]) {
    expect(output).not.toContain(first.key);
    expect(output).not.toContain(second.key);
    expect(output).not.toContain((await recordName(second.key)).slice('key:'.length));
  }
});

test('revoke says when the key stops working, and changes nothing the second time', async () => {
  const { id, key } = await json<NewKey>('create', '--label', 'Anna');
  expect(await keys('revoke', id)).toContain('about two minutes');
  const revoked = namespaces.local.get(await recordName(key));
  expect(revoked?.metadata).toMatchObject({ id, revokedAt: expect.any(String) });
  expect(await keys('revoke', id)).toContain('was already revoked');
  expect(namespaces.local.get(await recordName(key))).toEqual(revoked);
});

test('a rotated key keeps the label, the lifetime, the scopes and the family of the first one', async () => {
  const first = await json<NewKey>('create', '--label', 'Anna', '--read-only', '--expires', '90d');
  const second = await json<NewKey>('rotate', first.id);
  const third = await json<NewKey>('rotate', second.id);
  const names = await Promise.all([first, second, third].map(({ key }) => recordName(key)));
  const records = names.map((name) => namespaces.local.get(name)?.metadata);
  const kept = { label: 'Anna', scopes: ['read'], expiresAt: expect.any(String) };
  expect(records).toEqual([
    { id: first.id, createdAt: first.createdAt, rotatedTo: second.id, ...kept },
    { id: second.id, createdAt: second.createdAt, rotatedTo: third.id, family: first.id, ...kept },
    { id: third.id, createdAt: third.createdAt, family: first.id, ...kept },
  ]);
});

test('a key that was rotated or revoked cannot be rotated', async () => {
  const created = await json<NewKey>('create', '--label', 'Anna');
  const rotated = await json<NewKey>('rotate', created.id);
  expect(await run('rotate', created.id)).toMatchObject({
    code: 1,
    stderr: `error: key ${created.id} was already rotated: rotate ${rotated.id} instead\n`,
  });
  await keys('revoke', rotated.id);
  expect(await run('rotate', rotated.id)).toMatchObject({
    code: 1,
    stderr: `error: key ${rotated.id} is revoked: create a new one\n`,
  });
});

test('the scopes of a key are printed and listed', async () => {
  const reader = await json<NewKey>('create', '--label', 'Reader', '--read-only');
  const writer = await json<NewKey>('create', '--label', 'Writer');
  expect([reader.scopes, writer.scopes]).toEqual([['read'], ['read', 'write']]);
  expect(await keys('create', '--label', 'Other', '--read-only')).toContain(
    '(Other) for local, scopes read, expires never:',
  );
  const listed = await json<Listed[]>('list');
  expect(listed.map(({ scopes }) => scopes)).toEqual([['read'], ['read', 'write'], ['read']]);
  const table = await keys('list');
  expect(table).toMatch(new RegExp(`${reader.id} +│ Reader +│ read +│`));
  expect(table).toMatch(new RegExp(`${writer.id} +│ Writer +│ read, write +│`));
});

test('revoke works for a record without metadata, and keeps its unknown members', async () => {
  const record = { id: 'old', label: 'x', createdAt: '2026-11-20T00:00:00.000Z', plan: 'gold' };
  const name = `key:${'0'.repeat(64)}`;
  namespaces.production.set(name, { value: JSON.stringify(record) });
  await keys('revoke', 'old', ...production);
  const revoked = { ...record, revokedAt: expect.any(String) };
  expect(namespaces.production.get(name)?.metadata).toEqual(revoked);
});

test('an invalid record causes a warning, and other keys can be revoked', async () => {
  const { id, key } = await json<NewKey>('create', '--label', 'Anna');
  const metadata = { expiresAt: '+021192-03-20T00:00:00.000Z' };
  namespaces.local.set(`key:${'f'.repeat(64)}`, { value: '{', metadata });
  const { code, stderr } = await run('revoke', id);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^warning: .* key:ffffffffffff…\n$/)]);
  const { metadata: stored } = namespaces.local.get(await recordName(key)) ?? {};
  expect(stored).toMatchObject({ revokedAt: expect.any(String) });
});

test.each([[['create', '--label', 'x']], [['revoke', 'first']], [['rotate', 'first']]])(
  'production is not changed without --yes and without a terminal: %j',
  async (args) => {
    const record = { id: 'first', label: 'Anna', createdAt: '2026-11-20T00:00:00.000Z' };
    const entry = { value: JSON.stringify(record), metadata: record };
    namespaces.production.set(`key:${'0'.repeat(64)}`, entry);
    const { code, stdout, stderr } = await run(...args, '--env', 'production');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^error: confirmation required: add --yes to .* in production without a terminal\n$/,
    );
    expect([...namespaces.production.values()]).toEqual([entry]);
  },
);

test('a rotation that fails to end the old key prints the new key and the failure', async () => {
  const { id, key } = await json<NewKey>('create', '--label', 'Anna');
  failPut(await recordName(key));
  const { code, stdout, stderr } = await run('rotate', id, '--json');
  expect(code).toBe(1);
  expect(namespaces.local.has(await recordName(JSON.parse(stdout).key))).toBe(true);
  expect(stderr).toContain(`the new key is issued, but the old key ${id} is unchanged`);
});

describe('invalid arguments cause one line and the exit code 2', () => {
  test.each([
    [[], 'error: a command is required (create, list, revoke, rotate), or --help'],
    [['create', '--label', 'a\u202eb'], 'without control characters'],
    [['create', '--label', 'x', '--expires', '999999w'], 'It must be a duration such as 90d'],
    [['create'], "error: required option '--label <text>' not specified"],
    [['create', '--label', ''], "error: option '--label <text>' argument '' is invalid."],
    [['create', '--label', 'x'.repeat(101)], 'It must be 1 to 100 characters'],
    [['create', '--label', 'a\nb'], 'without control characters'],
    [
      ['create', '--label', 'x', '--expires', 'soon'],
      'It must be a duration such as 90d, or a date',
    ],
    [['create', '--label', 'x', '--expires', '2027-02-30'], 'or a date such as 2027-01-31'],
    [['create', '--label', 'x', '--expires', '2020-01-01'], 'It must be in the future.'],
    [['create', '--label', 'x', '--expires', '0s'], 'It must be in the future.'],
    [['create', '--label', 'x', 'y'], 'error: too many arguments'],
    [
      ['create', '--label', 'x', '--env', 'test'],
      'Allowed choices are local, staging, production.',
    ],
    [['list', '--jsno'], "error: unknown option '--jsno' (Did you mean --json?)"],
    [['revoke'], "error: missing required argument 'id'"],
    [['rotate', 'x', '--overlap', '1'], 'It must be a duration such as 15m, 24h or 7d.'],
    [['remove', 'x'], "error: unknown command 'remove'"],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  test('but --help of each command succeeds', async () => {
    for (const command of ['create', 'list', 'revoke', 'rotate']) {
      expect(await keys(command, '--help')).toMatch(
        new RegExp(`^Usage: npm run keys -- ${command} `),
      );
    }
    expect(await keys('--help')).toContain('Commands:');
  });

  test('and an unknown id causes the exit code 1', async () => {
    for (const command of ['revoke', 'rotate']) {
      expect(await run(command, 'key_none')).toMatchObject({
        code: 1,
        stdout: '',
        stderr: 'error: there is no key with the id "key_none" in local\n',
      });
    }
  });
});
