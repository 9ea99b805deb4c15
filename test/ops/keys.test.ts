import { readFile } from 'node:fs/promises';
import { beforeEach, expect, test } from 'vitest';
import { environmentOfKey, generateKey } from '../../src/auth/key-format.ts';
import { recordName } from '../../src/auth/key-record.ts';
import { keysCommand, type Listed, type NewKey } from './keys-command.ts';

let { entries, run, type, keys, json, onPut } = keysCommand();
beforeEach(() => {
  ({ entries, run, type, keys, json, onPut } = keysCommand());
});

const DAY = 86_400_000;
const production = ['--env', 'production', '--yes'];

/** The milliseconds from a key's creation to its expiry. */
const lifetimeOf = ({ createdAt, expiresAt }: NewKey) =>
  Date.parse(expiresAt ?? '') - Date.parse(createdAt);

test('the rule for secret scanners in docs/keys.md finds keys, except the public local one', async () => {
  const document = await readFile('docs/keys.md', 'utf8');
  const rule = new RegExp(/^regex = '''(.*)'''$/m.exec(document)?.[1] ?? 'no rule');
  expect(`key=${generateKey('production')};`).toMatch(rule);
  expect(`key=${generateKey('staging')};`).toMatch(rule);
  expect(generateKey('local')).not.toMatch(rule);
});

test('create prints the key once, and stores its record under its hash', async () => {
  const created = await json<NewKey>('create', '--label', 'Anna’s shop 🐈', ...production);
  const { key, id, label, createdAt } = created;
  const scopes = ['read', 'write'];
  expect(created).toEqual({ key, id, label, createdAt, scopes, expiresAt: null });
  expect(environmentOfKey(key)).toBe('production');
  const record = { id, label: 'Anna’s shop 🐈', createdAt };
  expect([...entries.production]).toEqual([
    [await recordName(key), { value: JSON.stringify(record), metadata: record }],
  ]);
  expect([entries.local.size, entries.staging.size]).toEqual([0, 0]);

  expect(await keys('create', '--label', 'Bob', '--read-only', '--expires', '2100-01-31')).toMatch(
    /^Key key_\w+ \(Bob\) for local, read, expires 2100-01-31T23:59:59\.999Z:\n\n {2}animal_local_\w{36}\n\n.*cannot be shown again/,
  );
});

test.each([
  ['90d', 90 * DAY],
  ['24h', DAY],
  ['15m', 900_000],
  ['90s', 90_000],
])('--expires %s is a duration from now', async (duration, ms) => {
  const created = await json<NewKey>('create', '--label', 'x', '--expires', duration);
  expect(Math.abs(lifetimeOf(created) - ms)).toBeLessThan(10_000);
});

test('list shows every key with its scopes and state, and never a key or its hash', async () => {
  const first = await json<NewKey>('create', '--label', 'Anna', '--read-only');
  const second = await json<NewKey>('create', '--label', 'Bob');
  await keys('revoke', second.id);

  const listed = await json<Listed[]>('list');
  expect(listed.map(({ label, scopes, state }) => [label, scopes, state])).toEqual([
    ['Anna', ['read'], 'active'],
    ['Bob', ['read', 'write'], 'revoked'],
  ]);
  const table = await keys('list');
  for (const { id, label, scopes, createdAt, state } of listed)
    expect(table).toMatch(
      new RegExp(`${id}.*${label}.*${createdAt}.*${state}.*${scopes.join(' ')}`),
    );
  for (const output of [table, JSON.stringify(listed)]) {
    expect(output).not.toContain(first.key);
    expect(output).not.toContain((await recordName(second.key)).slice('key:'.length));
  }
});

test('revoke says when the key stops working, and changes nothing the second time', async () => {
  const { id, key } = await json<NewKey>('create', '--label', 'Anna');
  expect(await keys('revoke', id)).toContain('within about two minutes, or later if KV');
  const revoked = entries.local.get(await recordName(key));
  expect(revoked?.metadata).toMatchObject({ id, revokedAt: expect.any(String) });
  expect(await keys('revoke', id)).toContain('was already revoked');
  expect(entries.local.get(await recordName(key))).toEqual(revoked);
});

test('revoking the fixed local key says how to restore it', async () => {
  const record = { id: 'local', label: 'x', createdAt: '2026-11-20T00:00:00.000Z' };
  entries.local.set(`key:${'0'.repeat(64)}`, { value: JSON.stringify(record), metadata: record });
  expect(await keys('revoke', 'local')).toBe(
    'Key local is revoked. The next npm start restores it.\n',
  );
});

test('a rotated key keeps the label, the lifetime, the scopes and the family of the first one', async () => {
  const first = await json<NewKey>('create', '--label', 'Anna', '--read-only', '--expires', '90d');
  const second = await json<NewKey>('rotate', first.id);
  const third = await json<NewKey>('rotate', second.id, '--overlap', '15m');
  expect(Math.abs(lifetimeOf(third) - 90 * DAY)).toBeLessThan(10_000);
  const names = await Promise.all([first, second, third].map(({ key }) => recordName(key)));
  const records = names.map((name) => entries.local.get(name)?.metadata);
  const kept = { label: 'Anna', scopes: ['read'], expiresAt: expect.any(String) };
  expect(records).toEqual([
    { id: first.id, createdAt: first.createdAt, rotatedTo: second.id, ...kept },
    { id: second.id, createdAt: second.createdAt, rotatedTo: third.id, family: first.id, ...kept },
    { id: third.id, createdAt: third.createdAt, family: first.id, ...kept },
  ]);
  const [, { expiresAt } = third] = await json<Listed[]>('list');
  const overlap = Date.parse(expiresAt ?? '') - Date.parse(third.createdAt);
  expect(Math.abs(overlap - 900_000)).toBeLessThan(10_000);
});

test('a key that was rotated or revoked cannot be rotated', async () => {
  const created = await json<NewKey>('create', '--label', 'Anna');
  const rotated = await json<NewKey>('rotate', created.id);
  const again = `error: key ${created.id} was already rotated: rotate ${rotated.id} instead\n`;
  expect(await run('rotate', created.id)).toMatchObject({ code: 1, stderr: again });
  await keys('revoke', rotated.id);
  const stderr = `error: key ${rotated.id} is revoked\n`;
  expect(await run('rotate', rotated.id)).toMatchObject({ code: 1, stderr });
});

test('a rotation that fails to end the old key prints the new key and the failure', async () => {
  const { id, key } = await json<NewKey>('create', '--label', 'Anna');
  const name = await recordName(key);
  onPut((each) => {
    if (each === name) throw new Error('KV fails');
  });
  const { code, stdout, stderr } = await run('rotate', id, '--json');
  expect(code).toBe(1);
  expect(entries.local.has(await recordName(JSON.parse(stdout).key))).toBe(true);
  expect(stderr).toContain(`is issued, but key ${id} is unchanged: KV fails`);
});

test('revoke keeps the unknown members of a record', async () => {
  const record = { id: 'old', label: 'x', createdAt: '2026-11-20T00:00:00.000Z', plan: 'gold' };
  const name = `key:${'0'.repeat(64)}`;
  entries.production.set(name, { value: JSON.stringify(record), metadata: record });
  await keys('revoke', 'old', ...production);
  const revoked = { ...record, revokedAt: expect.any(String) };
  expect(entries.production.get(name)?.metadata).toEqual(revoked);
});

test('a revocation that KV does not show fails', async () => {
  const { id } = await json<NewKey>('create', '--label', 'Anna');
  onPut(() => 'lost');
  const stderr = `error: key ${id} is not revoked: run the command again\n`;
  expect(await run('revoke', id)).toEqual({ code: 1, stdout: '', stderr });
});

test('a key that is revoked while its rotation waits stays revoked, and the rotation fails', async () => {
  const { id, key } = await json<NewKey>('create', '--label', 'Anna');
  const name = await recordName(key);
  const revoked = JSON.stringify({
    ...entries.local.get(name)?.metadata,
    revokedAt: '2027-01-01T00:00:00Z',
  });
  onPut(() => entries.local.set(name, { value: revoked }));
  const { code, stderr } = await run('rotate', id);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining(`key ${id} is unchanged: key ${id} is revoked`),
  ]);
  expect(entries.local.get(name)).toEqual({ value: revoked });
});

test('show prints the id of a key, and no command prints the key', async () => {
  const { id, key } = await json<NewKey>('create', '--label', 'Anna');
  const shown = { code: 0, stdout: `${id} (Anna) is active.\n` };
  expect(await type(`${key}\n`, 'show')).toMatchObject(shown);
  const another = await type(`${key}\n`, 'show', '--env', 'production');
  const unknown = await type(`${generateKey('local')}\n`, 'show');
  const revoked = await run('revoke', key);
  expect([another.code, unknown.code, revoked.code]).toEqual([1, 1, 1]);
  expect(revoked.stderr).toContain('npm run keys -- show');
  expect(JSON.stringify([another, unknown, revoked])).not.toMatch(/animal_local_\w/);
});

test('records without valid metadata are counted, and other keys can be revoked', async () => {
  const { id } = await json<NewKey>('create', '--label', 'Anna');
  entries.local.set(`key:${'f'.repeat(64)}`, { value: '{', metadata: { id: 'x' } });
  const stderr = 'warning: 1 records in KV have no valid metadata\n';
  expect(await run('revoke', id)).toMatchObject({ code: 0, stderr });
});

test.each([[['create', '--label', 'x']], [['revoke', 'first']], [['rotate', 'first']]])(
  'production is not changed without --yes and without a terminal: %j',
  async (args) => {
    const record = { id: 'first', label: 'Anna', createdAt: '2026-11-20T00:00:00.000Z' };
    const entry = { value: JSON.stringify(record), metadata: record };
    entries.production.set(`key:${'0'.repeat(64)}`, entry);
    const { code, stdout, stderr } = await run(...args, '--env', 'production');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^error: confirmation required: add --yes to .* in production without a terminal\n$/,
    );
    expect([...entries.production.values()]).toEqual([entry]);
  },
);

const expires = ['create', '--label', 'x', '--expires'];
test.each([
  [[], 'error: a command is required (create, list, show, revoke, rotate), or --help'],
  [['create'], "error: required option '--label <text>' not specified"],
  [['create', '--label', ''], "error: option '--label <text>' argument '' is invalid."],
  [['create', '--label', 'x'.repeat(101)], 'It must be 1 to 100 characters'],
  [['create', '--label', 'a\u202eb'], 'without control characters'],
  [[...expires, '1h30m'], "argument '1h30m' is invalid. It must be a duration such as 15m"],
  [[...expires, '2027-02-30'], 'may also be a date such as 2027-01-31'],
  [[...expires, '2020-01-01'], 'It must be in the future.'],
  [[...expires, '0s'], 'It must be in the future.'],
  [['list', '--env', 'test'], 'Allowed choices are local, staging, production.'],
  [['rotate', 'x', '--overlap', '1'], 'It must be a duration such as 15m, 24h or 7d.'],
  [['remove', 'x'], "error: unknown command 'remove'"],
])('%j is refused in one line with the exit code 2', async (args, message) => {
  const { code, stdout, stderr } = await run(...args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(message);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});

test('an unknown id causes the exit code 1', async () => {
  const stderr = 'error: there is no key with the id "key_none"\n';
  expect(await run('revoke', 'key_none')).toEqual({ code: 1, stdout: '', stderr });
});
