import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { generateKey } from '../../ops/generate-key.ts';
import { LOCAL_KEY_RECORD } from '../../ops/local/store.ts';
import { recordName } from '../../src/auth/key-record.ts';
import { fakeKeys } from './fake-keys.ts';

const NOW = '2027-01-31T00:00:00.000Z';
const ANNA = { id: 'key_anna', label: 'Anna', createdAt: '2026-11-20T00:00:00.000Z' };
const NEW_ID = expect.stringMatching('^key_\\w{12}$');
const KEY = generateKey('local');

let fake: ReturnType<typeof fakeKeys>;
beforeEach(() => {
  fake = fakeKeys();
  vi.setSystemTime(NOW);
});
afterEach(() => {
  vi.useRealTimers();
});

test('the rule for secret scanners finds all keys but local ones', () => {
  const [, rule = ''] = readFileSync('docs/keys.md', 'utf8').split("'''");
  const environments = ['local', 'staging', 'production'];
  const found = environments.filter((environment) => generateKey(environment).match(rule));
  expect(found).toEqual(['staging', 'production']);
});

test('create prints a key alone, passes only its hash on, and show prints its id', async () => {
  const { stdout, stderr } = await fake.run('create --label 🐈’s --env production --yes');
  expect(stderr).toContain(' (🐈’s) for production, read,write, expires never.\n');
  const [record] = fake.records();
  expect(record).toEqual({ id: NEW_ID, label: '🐈’s', createdAt: NOW });
  expect([...fake.entries.keys()]).toEqual([await recordName(stdout.trimEnd())]);
  const shown = await fake.run('show --env production', ` ${stdout}`);
  expect(shown.stdout).toBe(`${record?.id} (🐈’s) is active.\n`);
});

test.each([
  ['90d', '2027-05-01T00:00:00.000Z'],
  ['24h', '2027-02-01T00:00:00.000Z'],
  ['15m', '2027-01-31T00:15:00.000Z'],
  ['90s', '2027-01-31T00:01:30.000Z'],
  ['2100-01-31', '2100-01-31T23:59:59.999Z'],
])('create --read-only --expires %s limits a key', async (when, expiresAt) => {
  await fake.run(`create --label x --read-only --expires ${when} --env staging`);
  expect(fake.records()).toMatchObject([{ scopes: ['read'], expiresAt }]);
});

test('create --expires with a date means its end in UTC in every time zone', async () => {
  vi.stubEnv('TZ', 'Pacific/Auckland');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(new Date(NOW).getTimezoneOffset()).toBe(-780);
  await fake.run('create --label x --expires 2027-02-01');
  expect(fake.records()).toMatchObject([{ expiresAt: '2027-02-01T23:59:59.999Z' }]);
});

test('list shows each key with its scopes and state, the oldest first', async () => {
  fake.put({ ...ANNA, id: 'key_bob', createdAt: NOW, revokedAt: NOW });
  fake.put({ ...ANNA, scopes: ['read'], expiresAt: '2027-02-01T00:00:00.000Z' });
  const { stdout } = await fake.run('list');
  const anna = "key_anna.*Anna.*2026-11-20.*2027-02-01.*active.*'read' ";
  expect(stdout).toEqual(expect.stringMatching(`${anna}.*\n.*key_bob`));
  expect(stdout).toEqual(expect.stringMatching("key_bob.*revoked.*'read write'"));
  expect(stdout).not.toContain('hash');
});

test('revoke keeps the rest of a record, and changes nothing the second time', async () => {
  // An expired key can be revoked, too.
  const expired = { ...ANNA, plan: 'gold', expiresAt: NOW };
  fake.put(expired);
  const { stdout } = await fake.run('revoke key_anna --env production --yes');
  expect(stdout).toContain('It stops working within about two minutes, or later if KV');
  vi.setSystemTime('2027-02-01');
  const again = { code: 0, stdout: `Key key_anna was already revoked at ${NOW}.\n`, stderr: '' };
  expect(await fake.run('revoke key_anna --env production')).toEqual(again);
  expect(fake.records()).toEqual([{ ...expired, revokedAt: NOW }]);
});

test('the fixed key of the local store cannot be revoked, which npm start would undo', async () => {
  fake.put(LOCAL_KEY_RECORD);
  const { code, stderr } = await fake.run(`revoke ${LOCAL_KEY_RECORD.id}`);
  const error =
    'error: the fixed key of the local store cannot be revoked: npm start would restore it\n';
  expect([code, stderr]).toEqual([1, error]);
  expect(fake.records()).toEqual([LOCAL_KEY_RECORD]);
});

test('revoke reads a key from standard input, also one that no list shows yet', async () => {
  const { stdout: key } = await fake.run('create --label Anna --env production --yes');
  for (const [name, entry] of fake.entries) fake.entries.set(name, { ...entry, metadata: {} });
  const { stdout, stderr } = await fake.run('revoke --env production --yes', key);
  expect(stdout).toMatch(/^Key key_\w+ is revoked\./m);
  expect(stdout + stderr).not.toContain(key.trim());
  expect(fake.records()).toMatchObject([{ label: 'Anna', revokedAt: NOW }]);
});

test('a revocation that KV does not show fails, after two tries', async () => {
  fake.put(ANNA);
  let tries = 0;
  fake.beforePut = () => (tries += 1);
  const stderr = 'error: key key_anna is not revoked: run the command again\n';
  expect(await fake.run('revoke key_anna')).toMatchObject({ code: 1, stderr });
  expect(tries).toBe(2);
});

/**
 * rotate:  read active ─────────────────────────── write
 * revoke:               read, write revoked ──────────── 10 s ── read, write revoked
 */
test('a revocation that a rotation overwrites within 10 s is written again', async () => {
  fake.put(ANNA);
  const pauses: number[] = [];
  fake.beforePause = (ms) => {
    if (pauses.push(ms) === 1) fake.put({ ...ANNA, expiresAt: '2027-02-01T00:00:00.000Z' });
  };
  const { code, stdout } = await fake.run('revoke key_anna');
  expect([code, pauses]).toEqual([0, [10_000, 0]]);
  expect(stdout).toContain(
    'Another command has overwritten the revocation.\nKey key_anna is revoked.',
  );
  expect(fake.records()).toEqual([
    { ...ANNA, expiresAt: '2027-02-01T00:00:00.000Z', revokedAt: NOW },
  ]);
});

test('a rotated key keeps the label, lifetime, scopes and family of the first one', async () => {
  const first = { ...ANNA, createdAt: '2026-11-22T00:00:00.000Z', scopes: ['read'] };
  const expiresAt = '2027-02-20T00:00:00.000Z';
  fake.put({ ...first, expiresAt });
  // Longer than the life of the key.
  const { stderr } = await fake.run('rotate key_anna --overlap 30d --env production --yes');
  expect(stderr).toContain(`The old key key_anna expires at ${expiresAt}.`);
  const id = fake.records()[1]?.id;
  await fake.run(`rotate ${id} --env production --yes`);
  const next = { ...first, createdAt: NOW, family: 'key_anna' };
  expect(fake.records()).toEqual([
    { ...first, expiresAt, rotatedTo: id },
    { ...next, id, expiresAt: '2027-02-01T00:00:00.000Z', rotatedTo: NEW_ID },
    { ...next, id: NEW_ID, expiresAt: '2027-05-01T00:00:00.000Z' },
  ]);
});

test('a key whose record has a mistake is rotated with the scope read alone', async () => {
  fake.put({ ...ANNA, scope: 'read' });
  await fake.run('rotate key_anna');
  expect(fake.records()[1]).toMatchObject({ family: 'key_anna', scopes: ['read'] });
});

test.each([
  ['revoked', 'key key_anna is revoked', { revokedAt: NOW }],
  ['rotated', 'key key_anna was already rotated: rotate key_2 instead', { rotatedTo: 'key_2' }],
  ['not written', 'key key_anna is not rotated: KV fails', {}],
])('a rotation prints its key alone if the old one is %s then', async (_, problem, change) => {
  const changed = { ...ANNA, ...change };
  fake.put(ANNA);
  fake.beforePut = (name) => {
    fake.put(changed);
    if (name.endsWith('key_anna')) throw new Error('KV fails');
  };
  const { code, stdout, stderr } = await fake.run('rotate key_anna');
  expect([code, fake.entries.has(await recordName(stdout.trimEnd()))]).toEqual([1, true]);
  const nextId = fake.records()[1]?.id;
  const fix = 'To see both: npm run keys -- list --env local';
  expect(stderr).toContain(`the new key ${nextId} is issued, but ${problem}. ${fix}\n`);
  expect(fake.records()).toEqual([changed, expect.objectContaining({ family: 'key_anna' })]);
});

const OVERLAP_END = '2027-02-01T00:00:00.000Z';

test('a rotation whose second answer is lost reads what is stored, and succeeds', async () => {
  fake.put(ANNA);
  fake.afterPut = (name) => {
    if (name.endsWith('key_anna')) throw new Error('connection lost');
  };
  const { code, stderr } = await fake.run('rotate key_anna');
  expect([code, stderr]).toEqual([0, expect.stringContaining(`expires at ${OVERLAP_END}.`)]);
  expect(fake.records()).toMatchObject([{ expiresAt: OVERLAP_END }, {}]);
});

test('a rotation that cannot read what is stored does not say that it is unchanged', async () => {
  fake.put(ANNA);
  fake.afterPut = (name) => {
    if (!name.endsWith('key_anna')) return;
    fake.beforeGet = () => {
      throw new Error('KV fails');
    };
  };
  const { code, stderr } = await fake.run('rotate key_anna');
  const unknown = / is issued, but KV fails. To see both: npm run keys -- list --env local\n$/;
  expect([code, stderr]).toEqual([1, expect.stringMatching(unknown)]);
});

test.each([
  ['revoked', { revokedAt: NOW }, 'key key_anna is revoked. To see'],
  ['overwritten', {}, 'key key_anna is not rotated: another command has changed it. To see'],
])('a rotation fails if the old key is %s directly after its write', async (_, change, problem) => {
  fake.put(ANNA);
  fake.afterPut = (name) => {
    if (name.endsWith('key_anna')) fake.put({ ...ANNA, ...change });
  };
  const { code, stderr } = await fake.run('rotate key_anna');
  expect([code, stderr]).toEqual([1, expect.stringContaining(problem)]);
});

/** Runs a command that must fail and change nothing. Returns its error. `typed`: on a terminal. */
async function errorOf(exitCode: number, line: string, typed?: string): Promise<string> {
  const before = fake.records();
  const { code, stdout, stderr } = await fake.run(line, typed);
  expect([code, stdout]).toEqual([exitCode, '']);
  expect(fake.records()).toEqual(before);
  return stderr;
}

test.each([
  ['create', "required option '--label <text>' not specified"],
  ['create --label \t', 'It must be 1 to 100 characters'],
  ['create --label x --expires 1h30m', 'It must be a duration such as 15m'],
  ['create --label x --expires 2027-02-30', 'may also be a date such as 2027-01-31'],
  ['create --label x --expires 0s', 'It must be in the future.'],
  ['list --env test', 'Allowed choices are local, staging, production.'],
  ['rotate key_anna --overlap 1', 'It must be a duration such as 15m, 24h or 7d.'],
  ['rotate key_anna --overlap h', 'It must be a duration such as 15m, 24h or 7d.'],
])('keys %s is refused, with the exit code 2', async (line, message) => {
  expect(await errorOf(2, line)).toContain(message);
});

test('a label of 100 characters is accepted, but not one of 101', async () => {
  const label = '🐈'.repeat(100);
  expect(await errorOf(2, `create --label ${label}x`)).toContain('It must be 1 to 100 characters');
  await fake.run(`create --label ${label}`);
  expect(fake.records()).toMatchObject([{ label }]);
});

test('a key that is passed as an argument is refused, and not printed', async () => {
  const command = await errorOf(2, KEY);
  const argument = await errorOf(2, `show ${KEY}`);
  const id = await errorOf(1, `revoke ${KEY}`);
  expect(command).toContain("unknown command 'animal_…'");
  expect(argument).toContain('too many arguments');
  expect(id).toContain('it is a key. To get its id: npm run keys -- show');
  expect(command + argument + id).not.toContain(KEY);
});

test('show finds no key of another environment, and none without a record', async () => {
  const other = await errorOf(1, 'show --env staging', `${KEY}\n`);
  const unknown = await errorOf(1, 'show', `${KEY}\n`);
  expect(other).toContain('it is not a key of --env staging');
  expect(unknown).toContain('KV has no valid record of this key');
  expect(other + unknown).not.toContain(KEY);
  // Without a terminal, there is no question.
  expect(await errorOf(1, 'show')).toBe('error: it is not a key of --env local\n');
});

test('records without valid metadata are counted, and other keys can be revoked', async () => {
  fake.put({ id: 'key_invalid' });
  fake.put(ANNA);
  const warning = 'warning: 1 records in KV have no valid metadata\n';
  const error = 'error: there is no key with the id "key_invalid"\n';
  expect(await errorOf(1, 'revoke key_invalid')).toBe(warning + error);
  expect(await fake.run('revoke key_anna')).toMatchObject({ code: 0, stderr: warning });
});

test.each([
  ['revoked', 'is revoked', { revokedAt: NOW }],
  ['expired', 'is expired', { expiresAt: NOW }],
  ['rotated', 'was already rotated: rotate key_2 instead', { rotatedTo: 'key_2' }],
])('a %s key cannot be rotated, also if the list is out of date', async (_, problem, change) => {
  fake.put({ ...ANNA, ...change }, ANNA);
  expect(await errorOf(1, 'rotate key_anna')).toBe(`error: key key_anna ${problem}\n`);
});

test.each([
  ['create --label x', 'create a key'],
  ['revoke key_anna', 'revoke the key key_anna (Anna)'],
  ['rotate key_anna', 'rotate the key key_anna (Anna)'],
])('production is changed by %s only after a yes', async (line, change) => {
  fake.put(ANNA);
  const command = `${line} --env production`;
  const noTerminal = await errorOf(1, command);
  const enter = await errorOf(1, command, '\n');
  expect(noTerminal).toContain(`add --yes to ${change} in PRODUCTION without a terminal`);
  expect(enter).toContain(`This will ${change} in PRODUCTION. Continue? [y/N]\n`);
  expect(enter).toContain('error: cancelled\n');
  expect(await fake.run(command, 'y\n')).toMatchObject({ code: 0 });
});
