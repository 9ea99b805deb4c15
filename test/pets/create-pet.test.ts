import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { REPEAT } from '../repeat.ts';
import { startStore } from '../store.ts';

const store = startStore();

describe('a valid body', () => {
  test('returns the animal with its id and its address', async () => {
    const reply = await store.create({ name: 'Rex', categoryId: 3, status: 'pending' });
    expect(reply.status).toBe(201);
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect(reply.body).toEqual({
      id: expect.any(Number),
      name: 'Rex',
      categoryId: 3,
      status: 'pending',
    });
    const address = reply.headers.get('location') ?? '';
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+\/v1\/pets\/[0-9]+$/);
    expect((await store.fetch(new URL(address).pathname)).text).toBe(reply.text);
  });

  test('without a status adds an animal without a status', async () => {
    const reply = await store.create({ name: 'Rex', categoryId: 3 });
    expect(reply.status).toBe(201);
    expect(Object.keys(reply.body as object)).toEqual(['id', 'name', 'categoryId']);
    for (const status of ['available', 'pending', 'sold']) {
      expect((await store.fetch(`/v1/pets?status=${status}`)).text).toBe('[]');
    }
    expect((await store.fetch('/v1/pets')).text).toBe(`[${reply.text}]`);
  });

  test('gets an unused id, even after the newest animal was deleted', async () => {
    const { DB } = await store.bindings();
    const first = (await store.create({ name: 'Rex', categoryId: 1 })).body as { id: number };
    await DB.exec('DELETE FROM pets');
    const second = (await store.create({ name: 'Rex', categoryId: 1 })).body as { id: number };
    expect(second.id).toBeGreaterThan(first.id);
  });

  test.each([
    ['application/json'],
    ['APPLICATION/JSON'],
    ['application/json; charset=utf-8'],
    ['application/json;charset="UTF-8"'],
    ['application/json ; Charset=utf-8;'],
  ])('is accepted as %s', async (contentType) => {
    const reply = await store.create(
      { name: 'Rex', categoryId: 1 },
      { headers: { 'content-type': contentType } },
    );
    expect(reply.status).toBe(201);
  });

  test('may have white space around it and a byte order mark, with any Accept', async () => {
    const reply = await store.create('\ufeff \r\n{ "name" : "Rex" ,\t"categoryId" : 1 } \n', {
      headers: { accept: 'text/html' },
    });
    expect(reply.status).toBe(201);
  });

  test('may have exactly 16 KiB', async () => {
    const body = '{"name":"Rex","categoryId":1}'.padEnd(16 * 1024);
    expect((await store.create(body)).status).toBe(201);
    expect((await store.create(`${body} `)).status).toBe(413);
  });
});

describe('values are returned as they were sent:', () => {
  const anyInt64 = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, -(2n ** 53n) - 1n, 0n),
  );

  test('every int64, digit by digit', async () => {
    await fc.assert(
      fc.asyncProperty(anyInt64, async (categoryId) => {
        const created = await store.create(`{"name":"Rex","categoryId":${categoryId}}`);
        expect(created.status).toBe(201);
        expect(created.text).toContain(`"categoryId":${categoryId}}`);
        const path = new URL(created.headers.get('location') ?? '').pathname;
        expect((await store.fetch(path)).text).toBe(created.text);
      }),
      { numRuns: 20 * REPEAT },
    );
  });

  test('every valid name, code point by code point', async () => {
    const visible = fc.constantFrom('a', 'é', '犬', '🐶', 'e\u0301', '"', '\\', '/', "'", '<');
    const anyCharacter = fc
      .integer({ min: 0xa0, max: 0x10ffff })
      .map((codePoint) => String.fromCodePoint(codePoint))
      .filter((text) => text.isWellFormed());
    const character = fc.oneof(
      visible,
      anyCharacter,
      fc.constantFrom(' ', '\u200b', '\u2028', '\ufeff', '\u202e'),
    );
    const created: string[] = [];
    await fc.assert(
      fc.asyncProperty(visible, fc.array(character, { maxLength: 250 }), async (one, more) => {
        const name = [...more, one].join('');
        const reply = await store.create({ name, categoryId: 1 });
        expect(reply.body).toMatchObject({ name });
        created.push(reply.text);
      }),
      { numRuns: 20 * REPEAT },
    );
    const page = await store.fetch('/v1/pets?limit=100');
    expect(page.text).toBe(`[${created.slice(0, 100).join(',')}]`);
  });

  test.each([
    ['3.0', '3'],
    ['1e2', '100'],
    ['1200e-2', '12'],
    ['-0', '0'],
    ['0e1000000000', '0'],
    ['9.007199254740993e15', '9007199254740993'],
    ['9223372036854775807.000', '9223372036854775807'],
    ['-9.223372036854775808E+18', '-9223372036854775808'],
  ])('the integer written as %s', async (written, digits) => {
    const reply = await store.create(`{"name":"Rex","categoryId":${written}}`);
    expect(reply.text).toContain(`"categoryId":${digits}}`);
  });

  test('a name of 255 emoji, two code units each', async () => {
    const name = '🐶'.repeat(255);
    expect((await store.create({ name, categoryId: 1 })).body).toMatchObject({ name });
  });
});
