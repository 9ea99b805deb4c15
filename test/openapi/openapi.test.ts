/** The description is what clients know, and rules hold for all of it. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import packageJson from '../../package.json' with { type: 'json' };
import { description, operations, text } from '../support/contract.ts';

const read = (env: string) => readConfig({ config: 'wrangler.toml', env });
const baseUrlOf = (env: string) => read(env).vars.BASE_URL;

test('the description names its version and servers, and explains the codes', () => {
  const production = baseUrlOf('production');
  const { openapi, info, servers, tags } = description;
  // Some tools know no later patch version.
  expect([openapi, info.version]).toEqual(['3.1.0', packageJson.version]);
  expect(tags[0].name).toBe('animals');
  const local = `http://localhost:${read('').dev.port}/v1`;
  expect(servers).toEqual([
    { url: production, description: 'Production', 'x-internal': false },
    { url: baseUrlOf('staging'), description: 'Staging', 'x-internal': true },
    { url: local, description: 'Local development', 'x-internal': true },
  ]);
  expect(info.description).toContain(`${production}/pets`);
  // Of the table of codes, whose link leads nowhere here.
  expect(info.description).toContain('`order_not_found`');
  expect(info.description).not.toContain('](#');
});

/** Hashes of what clients read. A later operation needs none. */
const HASHES = {
  listPets: '4704b252',
  createPet: 'bf2baf67',
  getPet: '0a4b251f',
  updatePet: '30119387',
  deletePet: 'ad796436',
  listOrders: 'fe15577b',
  placeOrder: 'f48daa83',
  getOrder: '8f53d393',
  updateOrder: '56fe3cf8',
  getHealth: 'f74d4779',
  animals: 'a0691395',
  Pets: '5ebe17cd',
  Store: 'a52016f5',
  service: 'cdc5219d',
  security: 'ddf0c4ab',
  about: 'fb3d1a16',
};

test('the description changes only on purpose', () => {
  const { security: required, components } = description;
  const security = { name: 'security', required, ...components.securitySchemes };
  const about = { name: 'about', text: readFileSync('openapi/about.md', 'utf8') };
  const parts = [...operations, ...description.tags, security, about];
  const hashes = parts.map((part) => [part.operationId ?? part.name, hashOf(part)]);
  const hint = 'If the diff of public/openapi.json is intended, copy the new hash';
  expect(Object.fromEntries(hashes), hint).toMatchObject(HASHES);
});

function hashOf(part: object): string {
  const json = JSON.stringify(part, (name, value) => {
    // A later resource may add codes, and the tests of an error see its message.
    if (name === 'enum' && value.includes('not_found')) return [];
    return name === 'message' && typeof value === 'string' ? '' : value;
  });
  return hash('sha256', json).slice(0, 8);
}

/** An object of the description, and all objects in it. Some of them are schemas. */
function objectsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  return [{ ...value }, ...Object.values(value).flatMap(objectsIn)];
}

/**
 * Syntax that not all of Go, Rust, Java, Python and JavaScript have, or have without the flag `u`.
 */
const NOT_PORTABLE = /\\u|\\p|\\[dDwWbBAzZ]|\(\?/;

test('the file has no character that its readers may not see', () => {
  expect(text).not.toMatch(/[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u);
});

test('the patterns are in the part of regular expressions that all languages share', () => {
  const patterns = objectsIn(description).flatMap(({ pattern }) => pattern ?? []);
  expect(patterns.length).toBeGreaterThan(8);
  expect(patterns.filter((pattern) => NOT_PORTABLE.test(String(pattern)))).toEqual([]);
});

test('every string, integer and array of the description is bounded', () => {
  const unbounded = objectsIn(description).filter((schema) => {
    if (schema.type === 'string') return !(schema.enum ?? schema.const ?? schema.maxLength);
    if (schema.type === 'array') return schema.maxItems === undefined;
    // Clients choose the type by the format. Tools in JavaScript would round the range of an int64.
    const hasRange = schema.minimum !== undefined && schema.maximum !== undefined;
    return schema.type === 'integer' && hasRange === (schema.format === 'int64');
  });
  expect(unbounded).toEqual([]);
});
