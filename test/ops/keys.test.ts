import { describe, expect, test } from 'vitest';
import { environmentOfKey } from '../../src/keys/format.ts';
import { recordName } from '../../src/keys/record.ts';
import { keysCommand, type Listed, type NewKey } from './keys-command.ts';
import { copyProject } from './project.ts';

const project = copyProject();
const { keys, json } = keysCommand(project);

const DAY = 86_400_000;

test('a key’s life in the local store: created, listed, rotated, revoked', async () => {
  const created = await json<NewKey>(['create', '--label', 'Anna’s shop 🐈', '--expires', '90d']);
  expect(Object.keys(created)).toEqual(['id', 'key', 'label', 'scopes', 'createdAt', 'expiresAt']);
  expect(environmentOfKey(created.key)).toBe('local');
  const lifetime = Date.parse(created.expiresAt ?? '') - Date.parse(created.createdAt);
  expect(Math.abs(lifetime - 90 * DAY)).toBeLessThan(5_000);

  const printed = await keys(['create', '--label', 'Bob', '--expires', '2100-01-31']);
  expect(printed).toMatch(
    /^Key key_\w+ \(Bob\) for local, scopes read and write, expires 2100-01-31T23:59:59\.999Z:\n\n {2}animal_local_\w{36}\n/,
  );
  expect(printed).toContain('cannot be shown again');

  const rotated = await json<NewKey>(['rotate', created.id, '--overlap', '15m']);
  expect(rotated.key).not.toBe(created.key);
  expect(rotated).toMatchObject({ label: 'Anna’s shop 🐈', expiresAt: expect.any(String) });

  for (const time of [1, 2]) {
    const said = await keys(['revoke', rotated.id]);
    expect(said).toContain(time === 1 ? 'Within about two minutes' : 'was revoked already');
  }

  // Other tests of this file use the same store, in any order.
  const own = ['Anna’s shop 🐈', 'Bob'];
  const listed = (await json<Listed[]>(['list'])).filter(({ label }) => own.includes(label));
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
      expect(output).not.toContain(recordName(key).slice('key:'.length));
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
});

test('a key that cannot write: its scope is printed and listed, and a rotation keeps it', async () => {
  const reader = await json<NewKey>(['create', '--label', 'Reader', '--read-only']);
  expect(reader.scopes).toEqual(['read']);
  const writer = await json<NewKey>(['create', '--label', 'Writer']);
  expect(writer.scopes).toEqual(['read', 'write']);
  const rotated = await json<NewKey>(['rotate', reader.id]);
  expect(rotated.scopes).toEqual(['read']);
  expect(await keys(['create', '--label', 'Other', '--read-only'])).toContain(
    '(Other) for local, scopes read, expires never:',
  );

  const listed = await json<Listed[]>(['list']);
  expect(
    listed
      .filter(({ id }) => [reader.id, writer.id, rotated.id].includes(id))
      .map(({ scopes }) => scopes),
  ).toEqual([['read'], ['read', 'write'], ['read']]);
  const table = await keys(['list']);
  expect(table).toMatch(new RegExp(`${rotated.id} +│ Reader +│ read +│`));
  expect(table).toMatch(new RegExp(`${writer.id} +│ Writer +│ read, write +│`));
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
