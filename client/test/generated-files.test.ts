/** The generated files of the client agree with the OpenAPI description. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { generatedFiles } from '../generated-files.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const description = read('public/v1/openapi.json');

const files = await generatedFiles(description);

test.each(Object.keys(files))('client/%s is what the description says', (name) => {
  expect(files[name]).toBe(read(`client/${name}`));
});

const INT64 = { type: 'integer', format: 'int64' };

/** The description, in which an animal has another field. */
function withField(name: string, schema: object) {
  const changed = JSON.parse(description);
  changed.components.schemas.Pet.properties[name] = schema;
  return JSON.stringify(changed);
}

test('a nullable int64 is a bigint or null, and its name is known', async () => {
  const changed = await generatedFiles(withField('girth', { anyOf: [INT64, { type: 'null' }] }));
  expect(changed['schema.d.ts']).toContain('  girth?: bigint | null | undefined;');
  expect(changed['src/description.ts']).toContain("  'girth',\n");
});

test.each([
  { name: 'girth', schema: { type: 'array', items: INT64 }, place: 'girth/items' },
  { name: 'girth', schema: { type: 'string', format: 'int64' }, place: 'girth' },
  // The name of an int64 elsewhere.
  { name: 'petId', schema: { type: 'integer', format: 'int32' }, place: 'petId' },
  { name: 'petId', schema: { $ref: '#/components/schemas/PetStatus' }, place: 'petId' },
])('a field $name as $schema is an error that names its place', async ({ name, schema, place }) => {
  const message = `#/components/schemas/Pet/properties/${place}: `;
  await expect(generatedFiles(withField(name, schema))).rejects.toThrow(message);
});

test('a list below another resource has a query without the ids of its path', async () => {
  const changed = JSON.parse(description);
  const inPath = { name: 'shelterId', in: 'path', required: true, schema: INT64 };
  changed.paths['/store/orders'].get.parameters.push(inPath);
  const types = await generatedFiles(JSON.stringify(changed));
  // The query is the same as without the id.
  expect(types['schema.d.ts']).toBe(files['schema.d.ts']);
  expect(types['src/description.ts']).toContain("  'shelterId',\n");
});
