/** The types of the client, and their examples, agree with the OpenAPI description. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { typesOf } from '../../client/types.ts';
import { operations } from '../contract.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const description = read('public/v1/openapi.json');

test.each(['schema.d.ts', 'names.d.ts'])(
  'client/%s has the types of the description',
  async (name) => {
    expect((await typesOf(description))[name]).toBe(read(`client/${name}`));
  },
);

test('a nullable int64 is a bigint or null, and its name is a field with an int64', async () => {
  const int64 = '{ "type": "integer", "format": "int64" }';
  const nullable = `{ "anyOf": [${int64}, { "type": "null" }] }`;
  const types = await typesOf(description.replace('"properties": {', `$& "weight": ${nullable},`));
  expect(types['schema.d.ts']).toContain('weight?: bigint | null | undefined;');
  expect(types['schema.d.ts']).toMatch(/^export type Int64Field = .*'weight'/m);
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
