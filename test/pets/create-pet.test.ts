import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addPet, deletePet } from '../orders/steps.ts';
import { REPEAT } from '../repeat.ts';
import { startStore } from '../store.ts';

const store = startStore();

describe('a valid body', () => {
  test('adds an animal, and returns it with its id and its address', async () => {
    const reply = await store.create({ name: 'Rex', categoryId: 3, status: 'pending' });
    expect(reply.status).toBe(201);
    expect(reply.headers.get('content-type')).toBe('application/json');
    const [, id] = /^\{"id":([0-9]+),/.exec(reply.text) ?? [];
    expect(reply.text).toBe(`{"id":${id},"name":"Rex","categoryId":3,"status":"pending"}`);
    expect(reply.headers.get('location')).toBe(`${store.url()}/v1/pets/${id}`);
    expect((await store.fetch(`/v1/pets/${id}`)).text).toBe(reply.text);
  });

  test('without a status adds an animal without a status', async () => {
    const { text } = await store.create({ name: 'Rex', categoryId: 3 });
    expect(text).toMatch(/^\{"id":[0-9]+,"name":"Rex","categoryId":3\}$/);
    expect((await store.fetch('/v1/pets')).text).toBe(`[${text}]`);
    for (const status of ['available', 'pending', 'sold']) {
      expect((await store.fetch(`/v1/pets?status=${status}`)).text).toBe('[]');
    }
  });

  test('gets an unused id, even after the newest animal was deleted', async () => {
    const id = await addPet(store);
    await deletePet(store, id);
    expect(await addPet(store)).toBeGreaterThan(id);
  });

  test('may have white space around it and a byte order mark, with any Accept', async () => {
    const headers = { accept: 'text/html' };
    const body = '\ufeff \r\n{ "name" : "Rex" ,\t"categoryId" : 1 } \n';
    expect((await store.create(body, { headers })).status).toBe(201);
  });
});

describe('values are returned as they were sent:', () => {
  test('every valid name and every int64', async () => {
    const [min, max] = [-(2n ** 63n), 2n ** 63n - 1n];
    const categoryIds = fc.oneof(
      fc.bigInt({ min, max }),
      fc.constantFrom(min, max, 2n ** 53n + 1n),
    );
    const special = fc.constantFrom(
      '"',
      '\\',
      '/',
      '<',
      ' ',
      '\u200b',
      '\u2028',
      '\ufeff',
      'e\u0301',
    );
    const names = fc
      .string({
        unit: fc.oneof(special, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })),
        maxLength: 127,
      })
      .map((text) => `${text.replaceAll(/\p{Cc}/gu, '')}🐶`);
    const longest = fc.constant('🐶'.repeat(255));
    await fc.assert(
      fc.asyncProperty(fc.oneof(names, longest), categoryIds, async (name, categoryId) => {
        const body = `{"name":${JSON.stringify(name)},"categoryId":${categoryId}}`;
        const { text, headers } = await store.create(body);
        expect(text.replace(/^\{"id":[0-9]+,/, '{')).toBe(body);
        const { pathname } = new URL(headers.get('location') ?? '');
        expect((await store.fetch(pathname)).text).toBe(text);
      }),
      { numRuns: 20 * REPEAT },
    );
  });

  test.each([
    ['1200e-2', '12'],
    ['-0', '0'],
    ['0e1000000000', '0'],
    ['9.007199254740993e15', '9007199254740993'],
    ['-9.223372036854775808E+18', '-9223372036854775808'],
  ])('the integer written as %s', async (written, digits) => {
    const { text } = await store.create(`{"name":"Rex","categoryId":${written}}`);
    expect(text).toContain(`"categoryId":${digits}}`);
  });
});
