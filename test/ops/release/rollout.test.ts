/** What a release refuses, as far as it is computed from what was read. */
import { expect, test } from 'vitest';
import { Deployment } from '../../../ops/release/cloudflare.ts';
import { contractingStatements } from '../../../ops/release/migrations.ts';
import { differences, onlyVersion, testResult } from '../../../ops/release/rollout.ts';

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
  'ALTER TABLE pets DROP COLUMN name',
  'ALTER TABLE pets RENAME TO animals',
  'ALTER TABLE pets ADD COLUMN note TEXT NOT NULL',
  'ALTER TABLE pets ADD COLUMN "default" TEXT NOT NULL',
  "ALTER TABLE pets ADD COLUMN note TEXT CHECK (note <> 'DEFAULT') NOT NULL",
  'CREATE UNIQUE INDEX i ON pets (name)',
  "UPDATE pets SET name = 'Rex'",
  'DELETE FROM pets',
  "CREATE TRIGGER t BEFORE INSERT ON pets BEGIN SELECT RAISE(ABORT, 'no'); END",
])('a migration must not contract: %s', (sql) => {
  expect(contractingStatements(`${NEW_TABLE} ${sql}`)).toHaveLength(1);
});

const NEXT = {
  ...{ worker: 'w', database: 'd', keys: 'k' },
  ...{ routes: '[{"pattern":"a.test"}]', baseUrl: 'https://a.test/v1' },
};

test.each([
  ['worker', { ...NEXT, worker: 'renamed' }],
  ['database', { ...NEXT, database: 'another' }],
  ['keys', { ...NEXT, keys: 'another' }],
  ['address', { ...NEXT, baseUrl: 'https://b.test/v1' }],
] as const)('another %s is refused unless it is allowed', (name, next) => {
  const served = { worker: 'w', database: 'd', keys: 'k' };
  expect(differences(served, NEXT, [])).toEqual([]);
  expect(differences(served, next, [])).toEqual([expect.stringMatching(`^${name}: `)]);
  expect(differences(served, next, [name])).toEqual([]);
});

/** A deployment of versions by their shares. */
function deployment(shares: Record<string, number>, message: string): Deployment {
  const versions = Object.entries(shares).map(([version_id, percentage]) => ({
    version_id,
    percentage,
  }));
  return Deployment.parse({ id: 'id', versions, annotations: { 'workers/message': message } });
}

test('a version passed its tests if it served all, unless it failed then', () => {
  const all = deployment({ b: 100 }, '{"run":"r","old":"a","passed":"b"}');
  const failed = deployment({ a: 100 }, '{"run":"r","old":"a","passed":"a","failed":"b"}');
  expect(testResult('b', [all])).toBe('passed its tests');
  expect(testResult('b', [failed, all])).toBe('failed its tests');
  expect(testResult('b', [all, failed, all])).toBe('passed its tests');
  expect(testResult('a', [all])).toContain('not known');
  expect(testResult('a', [failed, all])).toBe('passed its tests');
});

test.each(['', 'mine', 'null', '{"run":"r"}', '{"run":"r","old":"a","x":1}'])(
  'the message %j was written by hand, and is no error',
  (message) => {
    const byHand = deployment({ a: 100 }, message);
    expect(byHand.note).toBeUndefined();
    expect(onlyVersion('production', byHand)).toBe('a');
    expect(testResult('a', [byHand])).toContain('not known');
  },
);

test('anything but one version for all is refused, with the command that ends it', () => {
  const half = deployment({ b: 0, a: 100 }, '{"run":"r","old":"a"}');
  expect(() => onlyVersion('production', half)).toThrow('rollback unfinished --env production');
  const byHand = deployment({ b: 50, a: 50 }, 'mine');
  expect(() => onlyVersion('production', byHand)).toThrow('rollback <version> --env production');
  expect(() => onlyVersion('staging', undefined)).toThrow('first --env staging');
});
