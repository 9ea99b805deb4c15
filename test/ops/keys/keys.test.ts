import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { generateKey } from '../../../ops/keys/generate-key.ts';
import { LOCAL_KEY_RECORD } from '../../../ops/local/store.ts';
import { recordName } from '../../../src/auth/key-record.ts';
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
  expect(stderr).toContain(' (🐈’s) for production, read and write, expires never.\n');
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
  expect(stdout).toEqual(expect.stringMatching("key_bob.*revoked.*'read and write'"));
  expect(stdout).not.toContain('hash');
});

test('revoke keeps the rest of a record, and changes nothing the second time', async () => {
  // An expired key can be revoked, too.
  const expired = { ...ANNA, plan: 'gold', expiresAt: NOW };
  fake.put(expired);
  const { stdout } = await fake.run('revoke key_anna --env production --yes');
  expect(stdout).toBe(
    `This takes 15 s …
Key key_anna (Anna) is revoked. It stops working everywhere within some minutes.
Look again in two minutes: npm run keys -- revoke key_anna --env production
`,
  );
  vi.setSystemTime('2027-02-01');
  const again = `Key key_anna (Anna) was already revoked at ${NOW}.\n`;
  const second = await fake.run('revoke key_anna --env production');
  expect(second).toEqual({ code: 0, stdout: again, stderr: '' });
  expect(fake.records()).toEqual([{ ...expired, revokedAt: NOW }]);
});

test.each(['revoke', 'rotate'])('%s refuses the fixed key of the local store', async (command) => {
  fake.put(LOCAL_KEY_RECORD);
  expect(await errorOf(1, `${command} ${LOCAL_KEY_RECORD.id}`)).toBe(
    'error: the fixed key of the local store cannot change: npm start would restore it\n',
  );
  // Another environment may have a key with this id.
  const elsewhere = `${command} ${LOCAL_KEY_RECORD.id} --env staging`;
  expect(await fake.run(elsewhere)).toMatchObject({ code: 0 });
});

test('revoke reads a key from standard input, also one that no list shows yet', async () => {
  const { stdout: key } = await fake.run('create --label Anna --env production --yes');
  for (const [name, entry] of fake.entries) fake.entries.set(name, { ...entry, metadata: {} });
  const { stdout, stderr } = await fake.run('revoke --env production --yes', key);
  expect(stdout).toMatch(/^Key key_\w+ \(Anna\) is revoked\./m);
  expect(stdout + stderr).not.toContain(key.trim());
  expect(fake.records()).toMatchObject([{ label: 'Anna', revokedAt: NOW }]);
});

test('a revocation that KV does not show fails, after two tries', async () => {
  fake.put(ANNA);
  let tries = 0;
  fake.beforePut = () => (tries += 1);
  const stderr =
    'error: it is unknown whether the key key_anna (Anna) is revoked: KV does not show the revocation. Run the command again\n';
  expect(await fake.run('revoke key_anna')).toMatchObject({ code: 1, stderr });
  expect(tries).toBe(2);
});

/**
 * rotate:  read active ─────────────────────────── write
 * revoke:               read, write revoked ──────────── 15 s ── read, write revoked
 */
test('a revocation that a rotation overwrites within 15 s is written again', async () => {
  fake.put(ANNA);
  const pauses: number[] = [];
  fake.beforePause = (ms) => {
    pauses.push(ms);
    fake.put({ ...ANNA, expiresAt: '2027-02-01T00:00:00.000Z' });
  };
  const { code, stdout } = await fake.run('revoke key_anna');
  expect([code, pauses]).toEqual([0, [15_000]]);
  expect(stdout).toContain(
    'KV does not show the revocation, so it is written again.\nKey key_anna (Anna) is revoked.',
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
  expect(stderr).toContain(`The old key key_anna (Anna) expires at ${expiresAt}.`);
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

const KV_FAILS = () => {
  throw new Error('KV fails');
};
/** Lets time pass, more than a rotation has from its last read to its write. */
const tooLong = () => vi.setSystemTime(Date.now() + 12_000);
const REVOKED = { ...ANNA, revokedAt: NOW };
const ROTATED = { ...ANNA, rotatedTo: 'key_2' };

/** Each event happens when the new key is stored. The old key stays as `stored`. */
test.each([
  ['is revoked', REVOKED, () => fake.put(REVOKED), 'key key_anna is revoked'],
  [
    'is rotated',
    ROTATED,
    () => fake.put(ROTATED),
    'key key_anna was already rotated: rotate key_2 instead',
  ],
  ['cannot be read', ANNA, () => (fake.beforeGet = KV_FAILS), 'KV fails'],
  ['is read too slowly', ANNA, () => (fake.beforeGet = tooLong), 'The operation was aborted'],
])('a rotation says that it changed nothing if the old key %s', async (...row) => {
  const [, stored, event, problem] = row;
  fake.put(ANNA);
  fake.afterPut = event;
  const { code, stdout, stderr } = await fake.run('rotate key_anna');
  const [old, next] = fake.records();
  expect([code, fake.entries.has(await recordName(stdout.trimEnd()))]).toEqual([1, true]);
  expect([old, next]).toEqual([stored, expect.objectContaining({ family: 'key_anna' })]);
  const failed = `the new key ${next?.id} is issued, but the old key key_anna is not rotated`;
  const fix = 'To see both, in two minutes: npm run keys -- list --env local';
  expect(stderr).toContain(`error: ${failed}: ${problem}. ${fix}\n`);
});

/** Calls an event before or after the write of the old key. */
function atOldKey(event: () => unknown) {
  return (name: string) => (name.endsWith('key_anna') ? event() : false);
}
const replace = (record: typeof ANNA) => () => fake.put(record);
const addRevocation = () => fake.put({ ...ANNA, ...fake.records()[0], revokedAt: NOW });

test.each([
  ['fails', { beforePut: KV_FAILS }, 'KV fails'],
  ['takes 12 s', { beforePut: tooLong }, 'The operation was aborted'],
  ['is carried out, but not answered', { afterPut: KV_FAILS }, 'KV fails'],
  ['is lost', { beforePut: () => true }, 'KV shows another record'],
  ['is overwritten', { afterPut: replace(ANNA) }, 'KV shows another record'],
  ['is followed by a revocation', { afterPut: addRevocation }, 'KV shows another record'],
  ['cannot be read', { afterPut: () => (fake.beforeGet = KV_FAILS) }, 'KV fails'],
])(
  'a rotation says that the state is unknown if the second write %s',
  async (_, events, problem) => {
    fake.put(ANNA);
    for (const [when, event] of Object.entries(events))
      Object.assign(fake, { [when]: atOldKey(event) });
    const { code, stderr } = await fake.run('rotate key_anna');
    const unknown = `the old key key_anna is in an unknown state: ${problem}. To see both`;
    expect([code, stderr]).toEqual([1, expect.stringContaining(unknown)]);
    expect(stderr).toContain(`the new key ${fake.records()[1]?.id} is issued`);
  },
);

test('a rotation has 12 s from its last read to its write', async () => {
  fake.put(ANNA);
  fake.beforeGet = () => vi.setSystemTime(Date.now() + 6_000);
  fake.beforePut = atOldKey(() => void vi.setSystemTime(Date.now() + 5_999));
  expect(await fake.run('rotate key_anna')).toMatchObject({ code: 0 });
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
  ['create --lable x', "error: unknown option '--lable'"],
  ['create --label \t', 'It must be 1 to 100 characters, without control characters.'],
  ['create --label a\u001b[2Jb', 'It must be 1 to 100 characters, without control characters.'],
  ['create --label a\u009bb', 'It must be 1 to 100 characters, without control characters.'],
  ['create --label x --expires 99999999d', 'It must be at most 36500d (100 years).'],
  ['create --label x --expires 36501d', 'It must be at most 36500d (100 years).'],
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
  expect(other).toContain('it is not an API key of --env staging: paste the key alone');
  expect(unknown).toContain(`KV has no valid record ${await recordName(KEY)}\n`);
  expect(other + unknown).not.toContain(KEY);
  // Without a terminal, there is no question.
  expect(await errorOf(1, 'show')).toBe(
    'error: it is not an API key of --env local: paste the key alone\n',
  );
});

test.each([
  ['lacks members', { id: 'key_invalid' }],
  ['has a member of a wrong type', { ...ANNA, id: 'key_invalid', label: 1 }],
  ['is a text', 'key_invalid'],
  ['is null', null],
])('a record whose metadata %s is counted, and other keys can be revoked', async (_, metadata) => {
  fake.put({ ...ANNA, id: 'key_invalid' }, metadata);
  fake.put(ANNA);
  const warning = 'warning: 1 records in KV have no valid metadata: see docs/keys.md\n';
  const error =
    'error: there is no key with the id "key_invalid": a new key is listed within about a minute; revoke also takes the key itself\n';
  expect(await errorOf(1, 'revoke key_invalid')).toBe(warning + error);
  expect(await fake.run('revoke key_anna')).toMatchObject({ code: 0, stderr: warning });
});

test('an id that several records have is revoked in all, and not rotated', async () => {
  const bob = { ...ANNA, id: 'key_bob', label: 'Bob' };
  fake.entries.set('key:garbage', { name: 'key:garbage', value: 'garbage', metadata: ANNA });
  fake.put(ANNA);
  fake.put(bob, ANNA);
  const listed = 'key:garbage, key:hash-of-key_anna, key:hash-of-key_bob';
  const refused = await fake.run('rotate key_anna');
  const problem = '3 records have the id key_anna: revoke it, and create a key';
  expect(refused).toEqual({ code: 1, stdout: '', stderr: `error: ${problem}\n` });
  const { code, stdout, stderr } = await fake.run('revoke key_anna --env production --yes');
  expect(stderr).toContain(
    `Records with this id: ${listed}\nerror: KV has no valid record key:gar`,
  );
  expect(stderr).toContain(
    'the list shows key_anna for key:hash-of-key_bob, which is of the key key_b',
  );
  expect(code).toBe(1);
  const revoked = [...stdout.matchAll(/^Key (.*) is revoked\./gm)].map(([, key]) => key);
  expect(revoked).toEqual(['key_anna (Anna)', 'key_bob (Bob)']);
  const [, anna, other] = fake.entries.values();
  expect([anna, other]).toMatchObject([
    { value: JSON.stringify({ ...ANNA, revokedAt: NOW }) },
    { value: JSON.stringify({ ...bob, revokedAt: NOW }) },
  ]);
});

test('rotate refuses the key of another record whose metadata has this id', async () => {
  fake.put({ ...ANNA, id: 'key_bob' }, ANNA);
  const error = await errorOf(1, 'rotate key_anna');
  expect(error).toContain('the list shows key_anna for key:hash-of-key_bob, which is of the key');
  expect(fake.entries.size).toBe(1);
});

test('rotate refuses a key that expires before its creation', async () => {
  fake.put({
    ...ANNA,
    createdAt: '2096-01-01T00:00:00.000Z',
    expiresAt: '2095-01-01T00:00:00.000Z',
  });
  const error = await errorOf(1, 'rotate key_anna');
  expect(error).toContain('key key_anna expires before its creation: create a key');
  expect(fake.entries.size).toBe(1);
});

test.each(['create --label x', 'revoke key_anna'])(
  '%s whose write fails says what is unknown',
  async (line) => {
    fake.put(ANNA);
    fake.beforePut = () => {
      throw new Error('KV fails');
    };
    const error = await errorOf(1, line);
    expect(error).toMatch(
      /^(.*\n)?error: it is unknown whether .*key_\w+.*: .*\. (Run the command again|If a list shows it, revoke it: npm run keys -- list --env local)\n$/,
    );
  },
);

test('a key can be revoked whatever the list shows, and whatever its record has besides', async () => {
  const forged = { ...ANNA, rotatedTo: 1, scopes: 'all', plan: null };
  fake.put(forged, 'forged', await recordName(KEY));
  expect(await fake.run('revoke', `${KEY}\n`)).toMatchObject({ code: 0 });
  expect(fake.records()).toEqual([{ ...forged, revokedAt: NOW }]);
});

test.each([
  'list',
  'revoke key_anna',
  'rotate key_anna',
  'revoke key_\u001b[2J',
  'rotate key_\u001b[2J',
])('%j prints no control characters of a forged record', async (line) => {
  const forged = { ...ANNA, label: '\u001b[2J\u009b\r', rotatedTo: '\u0007' };
  fake.put(forged);
  fake.put({ ...forged, id: 'key_\u001b[2J' });
  const { stdout, stderr } = await fake.run(line);
  expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
});

test('a key that would expire after the year 9999 is not issued', async () => {
  fake.put({ ...ANNA, expiresAt: '9999-12-31T23:59:59.999Z' });
  expect(await errorOf(1, 'rotate key_anna')).toContain('expiresAt');
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
