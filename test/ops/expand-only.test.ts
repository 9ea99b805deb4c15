import { expect, test } from 'vitest';
import { contractionProblem } from '../../ops/expand-only.ts';

const REASON = '-- contraction: no version since 1.4 reads it';

test.each([
  'CREATE TABLE t (id INTEGER PRIMARY KEY) STRICT;',
  'ALTER TABLE pets ADD COLUMN colour TEXT;',
  'CREATE INDEX pets_by_colour ON pets (colour);',
  'INSERT INTO t SELECT id FROM pets;',
  'CREATE TABLE t (pet INTEGER REFERENCES pets (id) ON DELETE CASCADE);',
  '-- Does not drop anything, and does not rename it either.\nSELECT 1;',
  '/* DROP TABLE pets; */ SELECT 1;',
  "INSERT INTO t VALUES ('DROP TABLE pets; -- it''s no use');",
  'ALTER TABLE pets ADD COLUMN "drop" TEXT;',
  'ALTER TABLE pets ADD COLUMN [rename] TEXT;',
  'ALTER TABLE pets ADD COLUMN `drop` TEXT;',
  'ALTER TABLE pets ADD COLUMN raindrop TEXT;',
  'ALTER TABLE pets ADD COLUMN drop_off TEXT;',
])('%j expands', (sql) => expect(contractionProblem(sql)).toBeUndefined());

test.each([
  ['DROP TABLE pets;', 'DROP'],
  ['drop index pets_by_status;', 'DROP'],
  ['ALTER TABLE pets DROP COLUMN status;', 'DROP'],
  ['ALTER TABLE pets RENAME TO animals;', 'RENAME'],
  ['ALTER TABLE pets\n  RENAME COLUMN name TO title;', 'RENAME'],
  ['DELETE\n FROM pets;', 'DELETE FROM'],
  ["SELECT '--'; DROP TABLE pets;", 'DROP'],
  ['SELECT 1; /* note */DROP/* note */TABLE pets;', 'DROP'],
  ['-- contraction\nDROP TABLE pets;', 'DROP'],
  ["SELECT '-- contraction: no version since 1.4 reads it'; DROP TABLE pets;", 'DROP'],
])('%j needs a reason', (sql, what) =>
  expect(contractionProblem(sql)).toBe(
    `contracts the schema (${what}), which needs a line "-- contraction: <why no version reads it>"`,
  ),
);

test.each([`${REASON}\nDROP TABLE pets;`, `ALTER TABLE t RENAME TO u;\n  ${REASON}\n`])(
  '%j has a reason',
  (sql) => expect(contractionProblem(sql)).toBeUndefined(),
);

test.each(['-- contraction:', '-- contraction: ok', '-- contraction: ... !'])(
  '%j is not a reason',
  (marker) => expect(contractionProblem(`${marker}\nDROP TABLE t;`)).toContain('must explain'),
);
