/** What a release refuses, as far as it is computed from what was read. */
import { expect, test } from 'vitest';
import { type Deployment, readTarget } from '../../../ops/release/cloudflare.ts';
import { contractingStatements } from '../../../ops/release/migrations.ts';
import { onlyVersion, refuseDifferences, rollbackVersion } from '../../../ops/release/rollout.ts';

const NEW_TABLE = 'CREATE TABLE t (a TEXT NOT NULL); CREATE UNIQUE INDEX i ON t (a);';

test.each([
  NEW_TABLE,
  'CREATE INDEX i ON pets (name); -- DROP TABLE pets',
  'ALTER TABLE pets ADD COLUMN note TEXT',
  "ALTER TABLE pets ADD note TEXT NOT NULL DEFAULT 'DROP; TABLE'",
])('a migration may expand: %s', (sql) => {
  expect(contractingStatements(sql)).toEqual([]);
});

test.each([
  'DROP TABLE pets',
  'ALTER TABLE pets ADD COLUMN note TEXT NOT NULL',
  'ALTER TABLE pets ADD COLUMN "default" TEXT NOT NULL',
  "ALTER TABLE pets ADD COLUMN note TEXT CHECK (note <> 'DEFAULT') NOT NULL",
  'CREATE UNIQUE INDEX i ON pets (name)',
  'CREATE TABLE IF NOT EXISTS pets (id); CREATE UNIQUE INDEX i ON pets (name)',
  "ALTER TABLE pets ADD COLUMN note TEXT CHECK (name <> 'x')",
  "UPDATE pets SET name = 'Rex'",
  "CREATE TRIGGER t BEFORE INSERT ON pets BEGIN SELECT RAISE(ABORT, 'no'); END",
])('a migration must not contract: %s', (sql) => {
  expect(contractingStatements(`${NEW_TABLE} ${sql}`)).toHaveLength(1);
});

test('another database, key store or address is refused unless it is allowed', () => {
  const served = { database: 'd', keys: 'k', address: 'a.test' };
  expect(refuseDifferences(served, served, '')).toEqual([]);
  for (const name of ['database', 'keys', 'address']) {
    const next = { ...served, [name]: 'another' };
    expect(() => refuseDifferences(served, next, 'do this')).toThrow(
      new RegExp(`^${name}: served is .*, next is another: nothing is changed. do this$`),
    );
    expect(refuseDifferences(served, next, '', [name])).toEqual([name]);
  }
});

const [OLD, NEW] = ['a'.repeat(36), 'b'.repeat(36)] as const;
const NOTE = `run=12345678 old=${OLD}`;

/** A deployment of versions by their shares. */
function deployment(shares: Record<string, number>, message = NOTE): Deployment {
  const share = ([version_id, percentage]: [string, number]) => ({ version_id, percentage });
  const versions = Object.entries(shares).map(share);
  return { id: 'id', versions, annotations: { 'workers/message': message } };
}

const before = deployment({ [OLD]: 100 });
const at0 = deployment({ [NEW]: 0, [OLD]: 100 });
const all = deployment({ [NEW]: 100 }, `${NOTE} passed=${NEW}`);
const failed = deployment({ [OLD]: 100 }, `${NOTE} passed=${OLD}`);

test.each(['', 'mine', `passed=${OLD}`, `${NOTE} passed=${OLD} by me`])(
  'the message %j was written by hand, and is no error',
  (message) => {
    const byHand = deployment({ [OLD]: 100 }, message);
    expect(onlyVersion('production', byHand)).toBe(OLD);
    expect(() => rollbackVersion(OLD, [byHand])).toThrow('not known to have passed');
    expect(rollbackVersion(OLD, [byHand], true)).toBe(OLD);
  },
);

test('anything but one version for all is refused, with the command that ends it', () => {
  const refused = (newest?: Deployment) => expect(() => onlyVersion('production', newest));
  refused(at0).toThrow('rollback unfinished --env production');
  refused({ ...at0, annotations: {} }).toThrow('rollback <version> --env production');
  refused().toThrow('first --env production');
});

test.each([
  ['after its upload', [before], OLD],
  ['at 0 %', [at0, before], OLD],
  ['at 100 %, before its last test', [deployment({ [NEW]: 100 }), before], OLD],
  ['at its end', [all, before], NEW],
])('a rollback ends a release that was killed %s', (_, deployments, version) => {
  expect(rollbackVersion('unfinished', deployments)).toBe(version);
});

test('a rollback needs 8 characters of one id, and --force for a version that failed', () => {
  expect(rollbackVersion(NEW.slice(0, 8), [failed, all])).toBe(NEW);
  expect(() => rollbackVersion(NEW.slice(0, 7), [all, before])).toThrow('8 or more characters');
  const similar = deployment({ [`${'b'.repeat(35)}c`]: 100 });
  expect(() => rollbackVersion(NEW.slice(0, 8), [all, similar])).toThrow('must be an id');
  expect(() => rollbackVersion('unfinished', [deployment({ x: 1, y: 99 }, '')])).toThrow('an id');
  expect(() => rollbackVersion(NEW, [failed, at0])).toThrow('failed its tests');
  expect(rollbackVersion(NEW, [failed, at0], true)).toBe(NEW);
});

test('an environment with placeholders is refused', () => {
  expect(() => readTarget('staging')).toThrow('First set-up in docs/operations.md');
});
