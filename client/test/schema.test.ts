/** The generated types agree with the OpenAPI description. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { text } from '../../test/support/contract.ts';
import { schemaModule } from '../schema-module.ts';

test('client/src/schema.ts is what the description says', () => {
  expect(schemaModule(JSON.parse(text)), 'Run: npm run openapi').toBe(
    readFileSync('client/src/schema.ts', 'utf8'),
  );
});

const INT64 = { type: 'integer', format: 'int64' };

// The client would read them as a number.
test.each([
  ['girth', { type: 'array', items: INT64 }],
  ['girth', { anyOf: [INT64, { type: 'null' }] }],
  ['petId', { type: 'integer', format: 'int32' }],
])('a field %s of an animal that is %o is an error that names it', (name, schema) => {
  const description = JSON.parse(text);
  description.components.schemas.Pet.properties[name] = schema;
  const problem = 'every field of this name must be an int64, and an int64 a plain field';
  expect(() => schemaModule(description)).toThrow(new Error(`${name}: ${problem}`));
});
