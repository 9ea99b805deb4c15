import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { startApp } from '../in-process.ts';
import { REPEAT } from '../repeat.ts';
import { startStore } from '../store.ts';

const store = startStore();
const send = startApp(store);

const INT64 = 'must be an integer from -9223372036854775808 to 9223372036854775807';
const STATUS = 'must be one of available, pending, sold';

async function petCount(): Promise<number> {
  const { DB } = await store.bindings();
  return (await DB.prepare('SELECT count(*) AS n FROM pets').first<number>('n')) ?? -1;
}

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

describe('an invalid field', () => {
  const cases: [body: string, problem: string][] = [
    ...[
      '1.5',
      '"3"',
      'null',
      'true',
      '[1]',
      '{}',
      '9223372036854775808',
      '-9223372036854775809',
    ].map((value): [string, string] => [
      `{"name":"Rex","categoryId":${value}}`,
      `categoryId: ${INT64}`,
    ]),
    ...['1e400', '1e1000000000', '1e-400', '1.00000000000000000001', '-1e19'].map(
      (value): [string, string] => [`{"name":"Rex","categoryId":${value}}`, `categoryId: ${INT64}`],
    ),
    ['{"name":"Rex"}', 'categoryId: is required'],
    ['{"categoryId":1}', 'name: is required'],
    ['{"name":null,"categoryId":1}', 'name: must be a string'],
    ['{"name":7,"categoryId":1}', 'name: must be a string'],
    ['{"name":["Rex"],"categoryId":1}', 'name: must be a string'],
    ['{"name":[],"categoryId":1}', 'name: must be a string'],
    [
      `{"name":"Rex","categoryId":1,"${'🐕'.repeat(100)}":1}`,
      `${'🐕'.repeat(64)}…: is not a known field`,
    ],
    ['{"name":"Rex","categoryId":1,"\\ud800":1}', '\ufffd: is not a known field'],
    ['{"name":"","categoryId":1}', 'name: must not be empty'],
    ['{"name":"  ","categoryId":1}', 'name: must contain a visible character'],
    ['{"name":"\\u200b\\u200d\\ufeff","categoryId":1}', 'name: must contain a visible character'],
    ['{"name":"a\\u0000b","categoryId":1}', 'name: must not contain control characters'],
    ['{"name":"a\\nb","categoryId":1}', 'name: must not contain control characters'],
    ['{"name":"a\\u0085b","categoryId":1}', 'name: must not contain control characters'],
    ['{"name":"a\\ud800","categoryId":1}', 'name: must not contain a lone surrogate'],
    [`{"name":"${'é'.repeat(256)}","categoryId":1}`, 'name: must be at most 255 characters long'],
    [`{"name":"${'🐶'.repeat(256)}","categoryId":1}`, 'name: must be at most 255 characters long'],
    ['{"name":"Rex","categoryId":1,"status":"SOLD"}', `status: ${STATUS}`],
    [
      '{"name":"Rex","categoryId":1,"status":null}',
      'status: must not be null: omit it for an animal without a status',
    ],
    ['{"name":"Rex","categoryId":1,"status":""}', `status: ${STATUS}`],
    ['{"id":7,"name":"Rex","categoryId":1}', 'id: is not a known field'],
    [
      '{"name":"Rex","categoryId":1,"__proto__":{"status":"sold"}}',
      '__proto__: is not a known field',
    ],
    ['{"name":"Rex","categoryId":1,"constructor":1}', 'constructor: is not a known field'],
    [
      '{"name":"Rex","categoryId":1,"stauts":"sold"}',
      'stauts: is not a known field, did you mean status?',
    ],
    [
      '{"name":"Rex","categoryId":1,"category_id":1}',
      'category_id: is not a known field, did you mean categoryId?',
    ],
    ['{"name":"Rex","name":"Max","categoryId":1}', 'name: must be given only once'],
    ['{"name":"Rex","categoryId":1,"categoryI\\u0064":1}', 'categoryId: must be given only once'],
    ['[]', 'body: must be a JSON object'],
    ['[{"name":"Rex","categoryId":1}]', 'body: must be a JSON object'],
    ['null', 'body: must be a JSON object'],
    ['"Rex"', 'body: must be a JSON object'],
    ['7', 'body: must be a JSON object'],
  ];

  test.each(cases)('%s', async (body, problem) => {
    const reply = await send('POST', '/v1/pets', body);
    expect(reply.body).toEqual({ code: 'invalid_request', message: problem, status: 400 });
    expect(reply.status).toBe(400);
  });

  test('is named together with every other invalid field', async () => {
    const reply = await store.create('{"nmae":"Rex","categoryId":1.5,"status":"SOLD","id":1}');
    expect(reply.body).toMatchObject({
      code: 'invalid_request',
      message: [
        'name: is required',
        `categoryId: ${INT64}`,
        `status: ${STATUS}`,
        'nmae: is not a known field, did you mean name?',
        'id: is not a known field',
      ].join('; '),
    });
  });

  test('in the query is rejected as well', async () => {
    const reply = await store.fetch('/v1/pets?dryRun=1&limit=5', {
      method: 'POST',
      body: '{"name":"Rex","categoryId":1}',
      headers: { 'content-type': 'application/json' },
    });
    expect(reply.body).toMatchObject({
      code: 'invalid_request',
      message: 'dryRun: is not a known parameter; limit: is not a known parameter',
    });
    expect(await petCount()).toBe(0);
  });
});
