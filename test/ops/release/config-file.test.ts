import { readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { editToml } from '../../../ops/release/config-file.ts';
import { CONFIG } from '../../../ops/release/target.ts';

const TEXT = `# A comment.\r
id = "top" # [a]

[a]
id = 'one' # stays
ids = "x"
other = { id = "x" }

[[a.list]]
id    =   "two"
text = "id = 3"
`;

test('writes a string where it is, and leaves everything else', () => {
  const edited = editToml(TEXT, [
    { table: '[a]', name: 'id', value: '$1 "quoted" \\' },
    { table: '[[a.list]]', name: 'id', value: 'new' },
  ]);
  expect(edited).toBe(TEXT.replace("'one'", '"$$1 \\"quoted\\" \\\\"').replace('"two"', '"new"'));
  expect(parse(edited)).toMatchObject({
    id: 'top',
    a: { id: '$1 "quoted" \\', list: [{ id: 'new' }] },
  });
});

test('finds the ids of both environments in wrangler.toml', () => {
  const text = readFileSync(CONFIG, 'utf8');
  const settings = ['staging', 'production'].flatMap((environment) => [
    { table: `[env.${environment}]`, name: 'account_id', value: `${environment}-1` },
    {
      table: `[[env.${environment}.d1_databases]]`,
      name: 'database_id',
      value: `${environment}-2`,
    },
    { table: `[[env.${environment}.kv_namespaces]]`, name: 'id', value: `${environment}-3` },
  ]);
  const { env } = parse(editToml(text, settings)) as Record<string, Record<string, object>>;
  for (const environment of ['staging', 'production']) {
    expect(env?.[environment]).toMatchObject({
      account_id: `${environment}-1`,
      d1_databases: [{ database_id: `${environment}-2` }],
      kv_namespaces: [{ id: `${environment}-3` }],
    });
  }
});

test.each([
  ['[b]', 'id', '[b] has no line with a text for id'],
  ['[a]', 'name', '[a] has no line with a text for name'],
  ['[a]', 'other', '[a] has no line with a text for other'],
])('refuses what is not there: %s %s', (table, name, problem) => {
  expect(() => editToml(TEXT, [{ table, name, value: 'x' }])).toThrow(`wrangler.toml: ${problem}`);
});

test('refuses what is there twice', () => {
  const twice = '[[a]]\nid = "1"\n[[a]]\nid = "2"\n';
  expect(() => editToml(twice, [{ table: '[[a]]', name: 'id', value: 'x' }])).toThrow(
    'wrangler.toml: [[a]] has 2 lines with a text for id',
  );
});
