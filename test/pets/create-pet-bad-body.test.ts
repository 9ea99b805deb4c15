/** createPet rejects invalid bodies, and names every invalid field. */
import { describe, expect, test } from 'vitest';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

const store = startStore();
const send = startApp(store);

const INT64 = 'must be an integer from -9223372036854775808 to 9223372036854775807';
const STATUS = 'must be one of available, pending, sold';

async function petCount(): Promise<number> {
  const { DB } = await store.bindings();
  return (await DB.prepare('SELECT count(*) AS n FROM pets').first<number>('n')) ?? -1;
}

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
