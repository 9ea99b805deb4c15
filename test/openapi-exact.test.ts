/** The description of values matches the values that the service accepts and returns. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { Context } from 'hono';
import { describe, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import { idempotencyKeyProblems } from '../src/d1/idempotency/header.ts';
import type { AppEnv } from '../src/env.ts';
import { encodeCursor } from '../src/http/cursor.ts';
import { NewPet } from '../src/pets/schema.ts';
import { description, operations, type Schema } from './contract.ts';

function parametersOf(id: string) {
  const found = operations.find(({ operation }) => operation.operationId === id);
  return new Map(found?.operation.parameters?.map((each) => [each.name, each]));
}

describe('the description of a name', () => {
  const { pattern = '', ...lengths } =
    description.components.schemas.NewPet?.properties?.name ?? {};
  const isAccepted = (name: string) => NewPet().shape.name.safeParse(name).success;

  test('has lengths, and a pattern that every dialect of regular expressions reads', () => {
    expect(pattern).toBe('^[^\\x00-\\x1f\\x7f-\\x9f]+$');
    expect(lengths).toMatchObject({ minLength: 1, maxLength: 255 });
  });

  test.each(['', 'u'])('with the flags "%s" matches the service for each character', (flags) => {
    const expression = new RegExp(pattern, flags);
    const invisible =
      /^[\p{White_Space}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}]$/u;
    const isDescribed = (character: string) =>
      expression.test(character) && character.isWellFormed();
    const characters = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code));
    const alone = characters.filter(
      (character) =>
        isAccepted(character) !== (isDescribed(character) && !invisible.test(character)),
    );
    const besideVisible = characters.filter(
      (character) => isAccepted(`a${character}`) !== isDescribed(character),
    );
    expect([alone, besideVisible]).toEqual([[], []]);
  });

  test.each([
    ...['\u3164', '\u2800', '\ufe0f', '\u034f', '\u115f', '\u1160', '\uffa0', '\u17b4', '\u180e'],
    ...['\u200b\u00ad', ' \u3164\u2800', '\u{e0001}', '\u{1d159}', '\u{13441}'],
  ])('%j has no visible character', (name) => {
    expect(isAccepted(name)).toBe(false);
    expect(isAccepted(`${name}犬`)).toBe(true);
  });
});

test('the description of an idempotency key matches the keys that the service accepts', () => {
  const { schema } = description.components.parameters.IdempotencyKey ?? {};
  const { pattern = '', minLength = 0, maxLength = 0 } = schema ?? {};
  const printable = fc.string({ unit: 'grapheme-ascii', maxLength: 260 });
  const header = fc.oneof(
    printable,
    printable.map((key) => `"${key}"`),
    fc.string({ minLength: 254, maxLength: 258, unit: fc.constantFrom('a', '"') }),
  );
  fc.assert(
    fc.property(header, (sent) => {
      const request = new Request('http://store', { headers: { 'Idempotency-Key': sent } });
      const context = new Context<AppEnv>(request);
      const key = request.headers.get('Idempotency-Key') ?? '';
      const isDescribed =
        new RegExp(pattern).test(key) && key.length >= minLength && key.length <= maxLength;
      // The description states these in words.
      const isExcluded = key === '""' || key.includes(', ');
      expect(idempotencyKeyProblems(context).length === 0).toBe(isDescribed && !isExcluded);
    }),
  );
});

test('the description of a cursor and of a bookmark matches those of the service', () => {
  const ids = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  const scopes = fc.constantFrom('', 'available', 'orders/', 'orders/delivered');
  const { schema } = parametersOf('listPets').get('cursor') ?? {};
  const { pattern = '', minLength = 0, maxLength = 0 } = schema ?? {};
  fc.assert(
    fc.property(scopes, ids, (scope, lastId) => {
      const cursor = encodeCursor({ scope, lastId });
      expect(cursor).toMatch(new RegExp(pattern));
      expect(cursor.length >= minLength && cursor.length <= maxLength).toBe(true);
    }),
  );
  const bookmark = parametersOf('listPets').get('X-D1-Bookmark')?.schema.pattern ?? '';
  for (const sent of ['first-primary', 'first-unconstrained', '00000085-0000024c-00004c6d-8e61']) {
    expect(sent).toMatch(new RegExp(bookmark));
  }
});

test('the description has the exact range of every int64', () => {
  const text = readFileSync(join(PROJECT_ROOT, 'public/v1/openapi.json'), 'utf8');
  const count = (part: RegExp) => [...text.matchAll(part)].length;
  const total = count(/"format": "int64"/g);
  expect(total).toBeGreaterThan(5);
  expect(count(/"minimum": -9223372036854775808,/g)).toBe(total);
  expect(count(/"maximum": 9223372036854775807\b/g)).toBe(total);
});

test('every field, parameter and header has a description, and every string and number is bounded', () => {
  const { schemas, headers } = description.components;
  const fields = Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
    Object.entries(properties).map(([field, schema]) => [`${name}.${field}`, schema] as const),
  );
  const parameters = operations.flatMap(({ operation }) => operation.parameters ?? []);
  const all: [string, { description?: string; schema: Schema }][] = [
    ...fields.map(([name, schema]) => [name, { ...schema, schema }] as [string, never]),
    ...parameters.map((parameter) => [parameter.name, parameter] as [string, never]),
    ...Object.entries(headers),
  ];
  const undescribed = all.filter(([, { description: about, schema }]) => !about && !schema.$ref);
  expect(undescribed).toEqual([]);
  const unbounded = all.filter(
    ([, { schema }]) =>
      (schema.type === 'string' && !schema.enum && !schema.maxLength) ||
      (schema.type === 'integer' && (schema.minimum === undefined || !schema.format)),
  );
  expect(unbounded).toEqual([]);
});

test('the first example of a schema has every field', () => {
  for (const name of ['Pet', 'NewPet', 'Order', 'NewOrder', 'Error']) {
    const { properties = {}, examples = [] } = description.components.schemas[name] ?? {};
    expect(Object.keys(examples[0] ?? {}), name).toEqual(Object.keys(properties));
  }
});
