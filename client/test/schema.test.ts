/** The generated types agree with the OpenAPI description. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { text } from '../../test/support/contract.ts';
import { schemaModule } from '../schema-module.ts';

test('client/src/schema.ts is what the description says', () => {
  const schema = readFileSync('client/src/schema.ts', 'utf8');
  expect(schemaModule(JSON.parse(text)), 'Run: npm run openapi').toBe(schema);
});

const INT64 = { type: 'integer', format: 'int64' };

/** The types, if an animal has another field. */
function typesWith(name: string, schema: object) {
  const description = JSON.parse(text);
  description.components.schemas.Pet.properties[name] = schema;
  return schemaModule(description);
}

test('a new int64 is a bigint, and its name is known', () => {
  const types = typesWith('girth', INT64);
  expect(types).toContain('  girth?: bigint | undefined;');
  expect(types).toContain("  'girth',\n");
});

// The client would read them as a number.
test.each([
  ['girth', { type: 'array', items: INT64 }],
  ['girth', { anyOf: [INT64, { type: 'null' }] }],
  ['petId', { type: 'integer', format: 'int32' }],
])('a field %s as %o is an error that names it', (name, schema) => {
  expect(() => typesWith(name, schema)).toThrow(`${name}: `);
});
