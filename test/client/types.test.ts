/** The types that are generated for the client from the OpenAPI description. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { typesOf } from '../../client/types.ts';

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
