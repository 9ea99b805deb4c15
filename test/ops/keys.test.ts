import { readFile } from 'node:fs/promises';
import { beforeEach, expect, test } from 'vitest';
import { environmentOfKey, generateKey } from '../../src/auth/key-format.ts';
import { KeyRecord, recordName } from '../../src/auth/key-record.ts';
import { fakeKeys } from './fake-keys.ts';

let { entries, run, type, keys, issue, put, onPut } = fakeKeys();
beforeEach(() => {
  ({ entries, run, type, keys, issue, put, onPut } = fakeKeys());
});

const DAY = 86_400_000;
const production = ['--env', 'production', '--yes'];
const OLD = { id: 'old', label: 'x', createdAt: '2026-11-20T00:00:00.000Z' };

/** The stored record of a local key. */
async function recordOf(key: string): Promise<KeyRecord> {
  return KeyRecord.parse(entries.local.get(await recordName(key))?.metadata);
}
/** The milliseconds between two times of records. */
const between = (from: string, to?: string | null) => Date.parse(to ?? '') - Date.parse(from);

test('the rule for secret scanners in docs/keys.md finds keys, except the public local one', async () => {
  const document = await readFile('docs/keys.md', 'utf8');
  const rule = new RegExp(/^regex = '''(.*)'''$/m.exec(document)?.[1] ?? 'no rule');
  expect(`key=${generateKey('production')};`).toMatch(rule);
  expect(`key=${generateKey('staging')};`).toMatch(rule);
  expect(generateKey('local')).not.toMatch(rule);
});

test('create prints the key alone on standard output, and stores its record under its hash', async () => {
  const { stdout, stderr } = await keys('create', '--label', 'Anna’s shop 🐈', ...production);
  const key = stdout.trimEnd();
  expect(environmentOfKey(key)).toBe('production');
  expect(stderr).toMatch(
    /^Key key_\w+ \(Anna’s shop 🐈\) for production, read,write, .* never\.\n/,
  );
  const record = {
    id: expect.stringMatching(/^key_\w{12}$/),
    label: 'Anna’s shop 🐈',
    createdAt: expect.any(String),
  };
  const [[name, stored] = [], ...others] = entries.production;
  expect([name, stored?.metadata, others]).toEqual([await recordName(key), record, []]);
  expect(JSON.parse(stored?.value ?? '')).toEqual(stored?.metadata);
  expect([entries.local.size, entries.staging.size]).toEqual([0, 0]);
});

test('create --read-only --expires limits a key', async () => {
  const { key } = await issue('create', '--label', 'x', '--read-only', '--expires', '2100-01-31');
  const limited = { scopes: ['read'], expiresAt: '2100-01-31T23:59:59.999Z' };
  expect(await recordOf(key)).toMatchObject(limited);
});

test.each([
  ['90d', 90 * DAY],
  ['24h', DAY],
  ['15m', 900_000],
  ['90s', 90_000],
])('--expires %s is a duration from now', async (duration, ms) => {
  const { key } = await issue('create', '--label', 'x', '--expires', duration);
  const { createdAt, expiresAt } = await recordOf(key);
  expect(Math.abs(between(createdAt, expiresAt) - ms)).toBeLessThan(10_000);
});

test('list shows every key with its scopes and state, and never a key or its hash', async () => {
  const first = await issue('create', '--label', 'Anna', '--read-only');
  const second = await issue('create', '--label', 'Bob');
  await keys('revoke', second.id);
  const { stdout } = await keys('list');
  const rows = stdout.split('\n').filter((row) => row.includes('key_'));
  expect(rows).toEqual([
    expect.stringMatching(`${first.id}.*Anna.*active.*read`),
    expect.stringMatching(`${second.id}.*Bob.*revoked.*read write`),
  ]);
  expect(stdout).not.toContain(first.key);
  expect(stdout).not.toContain((await recordName(second.key)).slice('key:'.length));
});

test('revoke says when the key stops working, and changes nothing the second time', async () => {
  const { id, key } = await issue('create', '--label', 'Anna');
  expect((await keys('revoke', id)).stdout).toContain('within about two minutes, or later if KV');
  const revoked = await recordOf(key);
  expect(revoked).toMatchObject({ id, revokedAt: expect.any(String) });
  expect((await keys('revoke', id)).stdout).toContain('was already revoked');
  expect(await recordOf(key)).toEqual(revoked);
});

test('revoke keeps the unknown members of a record', async () => {
  put({ ...OLD, ...{ plan: 'gold' } });
  await keys('revoke', 'old', ...production);
  const [{ metadata } = {}] = entries.production.values();
  expect(metadata).toEqual({ ...OLD, plan: 'gold', revokedAt: expect.any(String) });
});

test('a revocation that KV does not show fails', async () => {
  const { id } = await issue('create', '--label', 'Anna');
  onPut(() => 'lost');
  const stderr = `error: key ${id} is not revoked: run the command again\n`;
  expect(await run('revoke', id)).toEqual({ code: 1, stdout: '', stderr });
});

test('a rotated key keeps the label, the lifetime, the scopes and the family of the first one', async () => {
  const first = await issue('create', '--label', 'Anna', '--read-only', '--expires', '90d');
  const second = await issue('rotate', first.id);
  const third = await issue('rotate', second.id, '--overlap', '15m');
  const kept = { label: 'Anna', scopes: ['read'] };
  const rotated = await recordOf(second.key);
  const last = await recordOf(third.key);
  expect(await recordOf(first.key)).toMatchObject(kept);
  expect(rotated).toMatchObject({ ...kept, family: first.id });
  expect(last).toMatchObject({ ...kept, family: first.id });
  expect(Math.abs(between(last.createdAt, last.expiresAt) - 90 * DAY)).toBeLessThan(10_000);
  expect(Math.abs(between(last.createdAt, rotated.expiresAt) - 900_000)).toBeLessThan(10_000);
});

test('a key that was rotated or revoked cannot be rotated', async () => {
  const created = await issue('create', '--label', 'Anna');
  const rotated = await issue('rotate', created.id);
  const again = `error: key ${created.id} was already rotated: rotate ${rotated.id} instead\n`;
  expect(await run('rotate', created.id)).toMatchObject({ code: 1, stderr: again });
  await keys('revoke', rotated.id);
  const stderr = `error: key ${rotated.id} is revoked\n`;
  expect(await run('rotate', rotated.id)).toMatchObject({ code: 1, stderr });
});

test('a rotation that fails to end the old key prints the new key and the failure', async () => {
  const { id, key } = await issue('create', '--label', 'Anna');
  const name = await recordName(key);
  onPut((each) => {
    if (each === name) throw new Error('KV fails');
  });
  const { code, stdout, stderr } = await run('rotate', id);
  expect(code).toBe(1);
  expect(await recordOf(stdout.trimEnd())).toMatchObject({ family: id });
  expect(stderr).toContain(`is issued, but key ${id} is unchanged: KV fails`);
});

test('a key that is revoked while its rotation waits stays revoked, and the rotation fails', async () => {
  const { id, key } = await issue('create', '--label', 'Anna');
  const name = await recordName(key);
  const record = { ...(await recordOf(key)), revokedAt: '2027-01-01T00:00:00Z' };
  const revoked = { value: JSON.stringify(record) };
  onPut(() => entries.local.set(name, revoked));
  const { code, stderr } = await run('rotate', id);
  expect(code).toBe(1);
  expect(stderr).toContain(`key ${id} is unchanged: key ${id} is revoked`);
  expect(entries.local.get(name)).toEqual(revoked);
});

test('show prints the id of a key, and no command prints the key', async () => {
  const { id, key } = await issue('create', '--label', 'Anna');
  const shown = { code: 0, stdout: `${id} (Anna) is active.\n` };
  expect(await type(`${key}\n`, 'show')).toMatchObject(shown);
  const another = await type(`${key}\n`, 'show', '--env', 'production');
  const unknown = await type(`${generateKey('local')}\n`, 'show');
  const revoked = await run('revoke', key);
  expect([another.code, unknown.code, revoked.code]).toEqual([1, 1, 1]);
  expect(another.stderr).toContain('not a key of --env production');
  expect(revoked.stderr).toContain('npm run keys -- show');
  expect(JSON.stringify([another, unknown, revoked])).not.toMatch(/animal_local_\w/);
});

test('records without valid metadata are counted, and other keys can be revoked', async () => {
  const { id } = await issue('create', '--label', 'Anna');
  entries.local.set(`key:${'f'.repeat(64)}`, { value: '{', metadata: { id: 'x' } });
  const stderr = 'warning: 1 records in KV have no valid metadata\n';
  expect(await run('revoke', id)).toMatchObject({ code: 0, stderr });
});

test.each([[['create', '--label', 'x']], [['revoke', 'old']], [['rotate', 'old']]])(
  'production is not changed without --yes and without a terminal, nor by Enter: %j',
  async (args) => {
    put(OLD);
    const unchanged = [...entries.production.values()];
    const { code, stderr } = await run(...args, '--env', 'production');
    expect([code, stderr]).toEqual([1, expect.stringContaining('required: add --yes to')]);
    expect(await type('\n', ...args, '--env', 'production')).toMatchObject({ code: 1 });
    expect([...entries.production.values()]).toEqual(unchanged);
  },
);

const expires = ['create', '--label', 'x', '--expires'];
test.each([
  [['create'], "error: required option '--label <text>' not specified"],
  [['create', '--label', ' '], 'It must be 1 to 100 characters'],
  [['create', '--label', 'x'.repeat(101)], 'It must be 1 to 100 characters'],
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
