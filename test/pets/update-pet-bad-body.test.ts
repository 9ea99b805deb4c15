/** Bodies that updatePet rejects before D1 is reached. */
import { describe, expect, test } from 'vitest';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

const store = startStore();
const send = startApp(store);

const INT64 = 'categoryId: must be an integer from -9223372036854775808 to 9223372036854775807';
const STATUS = 'status: must be one of available, pending, sold';
const OBJECT = 'body: must be a JSON object';
const MERGE_PATCH = 'application/merge-patch+json';

const update = (patch: string, contentType = MERGE_PATCH) =>
  send('PATCH', '/v1/pets/1', patch, { 'content-type': contentType });

describe('an invalid patch is rejected', () => {
  test.each([
    ['{}', 'body: must have at least one field'],
    ['{"name":null}', 'name: must be a string'],
    ['{"name":""}', 'name: must not be empty'],
    ['{"name":"a\\nb"}', 'name: must not contain control characters'],
    ['{"categoryId":null}', INT64],
    ['{"categoryId":"3"}', INT64],
    ['{"categoryId":1.5}', INT64],
    ['{"categoryId":1e400}', INT64],
    ['{"categoryId":9223372036854775808}', INT64],
    ['{"categoryId":-9223372036854775809}', INT64],
    ['{"status":"SOLD"}', STATUS],
    ['{"status":"placed"}', STATUS],
    ['{"status":""}', STATUS],
    ['{"status":1}', STATUS],
    ['{"id":5}', 'id: is not a known field'],
    ['{"id":null}', 'id: is not a known field'],
    ['{"name":"Max","id":5}', 'id: is not a known field'],
    ['{"nmae":"Max"}', 'nmae: is not a known field, did you mean name?'],
    ['{"category_id":4}', 'category_id: is not a known field, did you mean categoryId?'],
    ['{"__proto__":{"name":"Max"}}', '__proto__: is not a known field'],
    ['{"name":"Max","name":"Max"}', 'name: must be given only once'],
    ['{"status":null,"status":"sold"}', 'status: must be given only once'],
    [
      '{"name":null,"categoryId":null,"x":1}',
      `name: must be a string; ${INT64}; x: is not a known field`,
    ],
    ['[]', OBJECT],
    ['[{"name":"Max"}]', OBJECT],
    ['null', OBJECT],
    ['"Max"', OBJECT],
  ])('%s', async (patch, message) => {
    const reply = await update(patch);
    expect(reply.body).toEqual({ code: 'invalid_request', message, status: 400 });
    expect(reply.status).toBe(400);
  });

  test.each([
    ['empty', '', 'application/json', 400, 'invalid_json'],
    ['not JSON', '{name:"Max"}', 'application/json', 400, 'invalid_json'],
    [
      'nested too deeply',
      `{"name":${'['.repeat(33)}${']'.repeat(33)}}`,
      MERGE_PATCH,
      400,
      'invalid_json',
    ],
    [
      'larger than 16 KiB',
      '{"name":"Max"}'.padEnd(16 * 1024 + 1),
      MERGE_PATCH,
      413,
      'body_too_large',
    ],
    [
      'a JSON Patch',
      '{"name":"Max"}',
      'application/json-patch+json',
      415,
      'unsupported_media_type',
    ],
    ['text', '{"name":"Max"}', 'text/plain', 415, 'unsupported_media_type'],
    [
      'in another charset',
      '{"name":"Max"}',
      `${MERGE_PATCH}; charset=latin1`,
      415,
      'unsupported_media_type',
    ],
  ])('that is %s', async (_, patch, contentType, status, code) => {
    const reply = await update(patch, contentType);
    expect([reply.status, reply.body]).toEqual([
      status,
      { code, message: expect.any(String), status },
    ]);
  });

  test('a 415 lists the media types that PATCH accepts; POST accepts no merge patch', async () => {
    const rejected = await update('{"name":"Max"}', 'text/plain');
    expect(rejected.headers.get('accept')).toBe(`application/json, ${MERGE_PATCH}`);
    const headers = { 'content-type': MERGE_PATCH };
    const posted = await store.create({ name: 'Rex', categoryId: 3 }, { headers });
    expect([posted.status, posted.headers.get('accept')]).toEqual([415, 'application/json']);
  });
});
