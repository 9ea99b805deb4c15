/** The types of the client, and their examples, agree with the OpenAPI description. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { operations } from '../../test/support/contract.ts';
import { typesOf } from '../types.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const description = read('public/v1/openapi.json');

const files = await typesOf(description);

test.each(Object.keys(files))('client/%s is what the description says', (name) => {
  expect(files[name]).toBe(read(`client/${name}`));
});

const INT64 = { type: 'integer', format: 'int64' };

/** The description, in which an animal has another field. */
function withField(name: string, schema: object): string {
  const changed = JSON.parse(description);
  changed.components.schemas.Pet.properties[name] = schema;
  return JSON.stringify(changed);
}

test.each([
  { schema: INT64, type: 'bigint' },
  { schema: { anyOf: [INT64, { type: 'null' }] }, type: 'bigint | null' },
  { schema: { anyOf: [{ type: 'null' }, INT64] }, type: 'null | bigint' },
  { schema: { type: ['integer', 'null'], format: 'int64' }, type: 'bigint | null' },
])('an int64 as $schema is a $type, and its name is known', async ({ schema, type }) => {
  const types = await typesOf(withField('girth', schema));
  expect(/girth\?: (.*) \| undefined;/.exec(types['schema.d.ts'] ?? '')?.[1]).toBe(type);
  expect(types['src/description.ts']).toContain('  girth: true,\n');
});

const PET = '#/components/schemas/Pet/properties';

test.each([
  { shape: 'in an array', schema: { type: 'array', items: INT64 }, place: '/girth/items' },
  {
    shape: 'in a map',
    schema: { type: 'object', additionalProperties: INT64 },
    place: '/girth/additionalProperties',
  },
  { shape: 'as a text', schema: { type: 'string', format: 'int64' }, place: '/girth' },
])('an int64 $shape is an error that names its place', async ({ schema, place }) => {
  const message = `${PET}${place}: an int64 must be`;
  await expect(typesOf(withField('girth', schema))).rejects.toThrow(message);
});

test.each([
  { type: 'integer', format: 'int32' },
  { type: 'number' },
  { type: 'string' },
  { $ref: '#/components/schemas/PetStatus' },
])('a field %j with the name of an int64 is an error that names its place', async (schema) => {
  const message = `${PET}/petId: must be an int64`;
  await expect(typesOf(withField('petId', schema))).rejects.toThrow(message);
});

test('schema.d.ts has what the types of the client use, and no more', () => {
  const types = read('client/schema.d.ts');
  const names = Array.from(types.matchAll(/^export \w+ (\w+)/gm), ([, name = '']) => name);
  const sources = globSync('client/src/*.ts').filter((path) => !path.endsWith('index.ts'));
  const uses = [types, ...sources.map(read)].join('');
  const unused = names.filter(
    (name) => (uses.match(RegExp(`\\b${name}\\b`, 'g')) ?? []).length < 2,
  );
  expect(unused).toEqual([]);
  expect(names).toContain('Pet');
});

test('the examples of the types have a bigint for each id', () => {
  expect(read('client/schema.d.ts')).toContain('"id": 7n');
  expect(read('client/schema.d.ts')).not.toMatch(/"(id|\w+Id)": \d+(,|$)/m);
});

test.each(operations)('the doc comment of $operation.operationId is as described', (described) => {
  const { operationId, 'x-stability': stability } = described.operation;
  const [before = ''] = read('client/src/store.ts').split(`\n  ${operationId}(`);
  const comment = before.slice(before.lastIndexOf('/**'));
  expect(comment).toMatch(/\* @example\b.*\*\/\s*$/s);
  const tags = comment.match(/@(deprecated|beta|experimental)/g) ?? [];
  const expected = [
    'deprecated' in described.operation && '@deprecated',
    stability && `@${stability}`,
  ];
  expect(tags).toEqual(expected.filter(Boolean));
});
