/** Requests made from the description: what it calls valid is taken, the rest is refused as described. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { VISIBLE } from '../src/pets/schema.ts';
import { description, operations, type Schema } from './contract.ts';
import { startStore } from './store.ts';

const store = startStore();
const RUNS = { numRuns: 300 };
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** What the description says in words alone, by field: a character that valid texts have. */
const IN_WORDS: Record<string, { needs: RegExp; without: string[] }> = {
  name: { needs: VISIBLE, without: [' ', '\u200b', '\u00a0', '\ufeff', '\u3164'] },
};

/** Values of a schema, as JSON text: an int64 would lose digits as a value. */
function valid(schema: Schema, field = ''): fc.Arbitrary<string> {
  if (schema.$ref) return valid(resolve(schema.$ref));
  if (schema.enum) return fc.constantFrom(...schema.enum).map((value) => JSON.stringify(value));
  if (schema.type === 'integer') {
    const { minimum = 0, maximum, exclusiveMaximum = 0 } = schema;
    const min = BigInt(minimum);
    const max = maximum === undefined ? BigInt(exclusiveMaximum) - 1n : BigInt(maximum);
    return fc.oneof(fc.bigInt({ min, max }), fc.constantFrom(min, max)).map(String);
  }
  if (schema.type === 'string') {
    const { pattern = '', maxLength = 1000 } = schema;
    return fc
      .oneof(fc.stringMatching(new RegExp(pattern, 'u')), fc.string({ unit: 'binary', maxLength }))
      .filter((text) => new RegExp(pattern, 'u').test(text) && [...text].length <= maxLength)
      .filter((text) => text.isWellFormed() && (IN_WORDS[field]?.needs ?? /^/).test(text))
      .map((text) => JSON.stringify(text));
  }
  const members = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const member = valid(property, name).map((value) => `${JSON.stringify(name)}:${value}`);
    return schema.required?.includes(name) ? member : fc.option(member, { nil: undefined });
  });
  return fc.tuple(...members).map((all) => `{${all.filter((member) => member).join(',')}}`);
}

function resolve(reference: string): Schema {
  const schema = description.components.schemas[reference.split('/').at(-1) ?? ''];
  if (!schema) throw new Error(`no schema ${reference}`);
  return schema;
}

function operation(id: string) {
  const found = operations.find(({ operation: { operationId } }) => operationId === id);
  if (!found) throw new Error(`no operation ${id}`);
  return found;
}

/** Query strings of valid values: each parameter may be left out. (A cursor is made by the service.) */
function validQuery(id: string): fc.Arbitrary<string[]> {
  const parameters = operation(id).operation.parameters ?? [];
  return fc
    .tuple(
      ...parameters
        .filter((parameter) => parameter.in === 'query' && parameter.name !== 'cursor')
        .map(({ name, schema }) =>
          fc.option(
            valid(schema).map(
              (value) => `${name}=${encodeURIComponent(value.replaceAll('"', ''))}`,
            ),
            { nil: '' },
          ),
        ),
    )
    .map((pairs) => pairs.filter((pair) => pair !== ''));
}

/** Text that a parameter or a field may or may not take. */
const junk = fc.oneof(
  fc.constantFrom(
    '0',
    '101',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    '9223372036854775808',
    'null',
    'SOLD',
    '',
  ),
  fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
);

const isInt64 = (text: string) =>
  /^-?[0-9]+$/.test(text) && BigInt(text) >= INT64.min && BigInt(text) <= INT64.max;

/** Whether the description calls these query parameters valid. (No cursor made up is.) */
function isValidQuery(id: string, pairs: [name: string, value: string][]): boolean {
  const parameters = new Map(
    (operation(id).operation.parameters ?? [])
      .filter((parameter) => parameter.in === 'query' && parameter.name !== 'cursor')
      .map(({ name, schema }) => [name, schema.$ref ? resolve(schema.$ref) : schema]),
  );
  const names = pairs.map(([name]) => name);
  return pairs.every(([name, value]) => {
    const schema = parameters.get(name);
    if (!schema || names.indexOf(name) !== names.lastIndexOf(name)) return false;
    if (schema.enum) return schema.enum.includes(value);
    const { minimum = 0, maximum = 0 } = schema;
    return /^[0-9]+$/.test(value) && Number(value) >= minimum && Number(value) <= maximum;
  });
}

async function seedPets(): Promise<number[]> {
  const replies = [];
  for (const status of ['available', 'pending', 'sold', undefined]) {
    replies.push(await store.create({ name: 'Rex', categoryId: 1, status }));
  }
  return replies.map(({ body }) => (body as { id: number }).id);
}

test('listPets takes every valid query', async () => {
  await seedPets();
  await fc.assert(
    fc.asyncProperty(validQuery('listPets'), async (pairs) => {
      expect((await store.fetch(`/v1/pets?${pairs.join('&')}`)).status).toBe(200);
    }),
    RUNS,
  );
});

test('listPets refuses exactly the queries that are not valid', async () => {
  const name = fc.oneof(fc.constantFrom('limit', 'status', 'cursor', 'Limit', '__proto__'), junk);
  const value = fc.oneof(
    junk,
    fc.nat(150).map(String),
    fc.constantFrom('available', 'sold', '1', '100'),
  );
  const pairs = fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(pairs, async (query) => {
      const text = query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
      const reply = await store.fetch(`/v1/pets?${text}`);
      expect(reply.status, reply.text).toBe(isValidQuery('listPets', query) ? 200 : 400);
    }),
    RUNS,
  );
});

test('createPet takes every valid body, and gives it back', async () => {
  await fc.assert(
    fc.asyncProperty(valid(resolve('NewPet')), async (body) => {
      const reply = await store.create(body);
      expect(reply.status, reply.text).toBe(201);
      expect(reply.text.replace(/^\{"id":[0-9]+,/, '{')).toBe(body);
    }),
    RUNS,
  );
});

/** JSON texts that are no value of the schema, from each of its rules. */
function invalid(schema: Schema, field: string): fc.Arbitrary<string> {
  if (schema.$ref) return invalid(resolve(schema.$ref), field);
  const { type, pattern = '', maxLength = 0 } = schema;
  const otherTypes = fc.constantFrom('null', 'true', '[]', '{}', '[1]', '{"a":1}');
  if (type === 'integer') {
    const outside = fc.oneof(
      fc.bigInt({ min: INT64.max + 1n, max: INT64.max * 1000n }),
      fc.bigInt({ min: INT64.min * 1000n, max: INT64.min - 1n }),
    );
    const fraction = fc.double({ noInteger: true, noNaN: true, noDefaultInfinity: true });
    const text = fc
      .oneof(fc.string(), fc.integer().map(String))
      .map((value) => JSON.stringify(value));
    return fc.oneof(outside.map(String), fraction.map(String), text, otherTypes);
  }
  const notAString = fc.oneof(otherTypes, fc.integer().map(String));
  if (schema.enum) {
    const other = junk.filter((text) => !schema.enum?.includes(text));
    return fc.oneof(
      other.map((text) => JSON.stringify(text)),
      notAString,
    );
  }
  const expression = new RegExp(pattern, 'u');
  const visible = fc.constantFrom('a', 'é', '犬', '🐶');
  const tooLong = fc
    .tuple(visible, fc.integer({ min: maxLength + 1, max: maxLength + 20 }))
    .map(([character, length]) => character.repeat(length));
  const control = fc
    .tuple(fc.string(), fc.integer({ min: 0, max: 0x9f }), fc.string())
    .map(([before, code, after]) => before + String.fromCharCode(code) + after)
    .filter((text) => !expression.test(text));
  const lacking = (IN_WORDS[field]?.without ?? []).map((character) =>
    fc.array(fc.constant(character)).map((all) => all.join('')),
  );
  const strings = fc.oneof(tooLong, control, ...lacking).map((text) => JSON.stringify(text));
  return fc.oneof(strings, notAString, fc.constant('"a\\ud800"'));
}

test('createPet refuses every other body', async () => {
  const schema = resolve('NewPet');
  const properties = Object.entries(schema.properties ?? {});
  const good = new Map(properties.map(([name, property]) => [name, valid(property, name)]));
  /** A valid body, but for one member. */
  const spoilt = properties.map(([spoiltName, property]) =>
    fc
      .tuple(
        ...properties.map(([name]) =>
          name === spoiltName ? invalid(property, name) : (good.get(name) ?? fc.constant('')),
        ),
      )
      .map((values) => `{${properties.map(([name], i) => `"${name}":${values[i]}`).join(',')}}`),
  );
  const missing = fc
    .tuple(valid(schema), fc.constantFrom(...(schema.required ?? [])))
    .map(([body, name]) => body.replace(new RegExp(`"${name}":`), '"x":'));
  const unknown = fc
    .tuple(valid(schema), fc.string(), fc.json())
    .map(([body, name, value]) => `${body.slice(0, -1)},${JSON.stringify(`x${name}`)}:${value}}`);
  const noObject = fc
    .oneof(fc.json(), fc.string({ unit: 'binary' }))
    .filter((text) => !/^\s*\{/.test(text));
  await fc.assert(
    fc.asyncProperty(fc.oneof(...spoilt, missing, unknown, noObject), async (body) => {
      const reply = await store.create(body);
      expect(reply.status, `${body} ${reply.text}`).toBe(400);
    }),
    { numRuns: 2 * RUNS.numRuns },
  );
});

test('getPet takes every int64, and refuses every other id', async () => {
  const ids = (await seedPets()).map(String);
  const id = fc.oneof(
    valid(resolve('Pet').properties?.id ?? {}),
    fc.constantFrom(...ids),
    fc.bigInt({ min: INT64.max + 1n, max: INT64.max * 1000n }).map(String),
    // A path without a segment, or with dots for one, is another path.
    junk.filter((text) => !/^\.{0,2}$/.test(text)),
  );
  await fc.assert(
    fc.asyncProperty(id, async (petId) => {
      const reply = await store.fetch(`/v1/pets/${encodeURIComponent(petId)}`);
      const found = ids.includes(petId) ? 200 : 404;
      expect(reply.status, `${petId} ${reply.text}`).toBe(isInt64(petId) ? found : 400);
    }),
    { numRuns: 2 * RUNS.numRuns },
  );
});
