/** Bodies that placeOrder and updateOrder reject before D1 is reached. */
import { describe, expect, test } from 'vitest';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';
import { addPet, placeOrder } from './steps.ts';

const store = startStore();
const send = startApp(store);

const PET_ID = 'petId: must be an integer from -9223372036854775808 to 9223372036854775807';
const STATUS = 'status: must be one of placed, approved, delivered, cancelled';
const OBJECT = 'body: must be a JSON object';

const rejectedOrder = (body: string, contentType = 'application/json') =>
  send('POST', '/v1/store/orders', body.replaceAll('ID', '1'), { 'content-type': contentType });

const rejectedUpdate = (body: string, contentType = 'application/json') =>
  send('PATCH', '/v1/store/orders/1', body, { 'content-type': contentType });

describe('placeOrder rejects', () => {
  test.each([
    ['{"petId":"ID"}', PET_ID],
    ['{"petId":ID.5}', PET_ID],
    ['{"petId":null}', PET_ID],
    ['{"petId":true}', PET_ID],
    ['{"petId":[ID]}', PET_ID],
    ['{"petId":{"id":ID}}', PET_ID],
    ['{"petId":1e400}', PET_ID],
    ['{"petId":1e-400}', PET_ID],
    ['{"petId":9223372036854775808}', PET_ID],
    ['{"petId":-9223372036854775809}', PET_ID],
    ['{"petId":ID.00000000000000000001}', PET_ID],
    ['{}', 'petId: is required'],
    ['{"petid":ID}', 'petId: is required; petid: is not a known field, did you mean petId?'],
    ['{"petId":ID,"petId":ID}', 'petId: must be given only once'],
    ['{"petId":ID,"id":5}', 'id: is not a known field'],
    ['{"petId":ID,"status":"placed"}', 'status: is not a known field'],
    ['{"petId":ID,"placedAt":"2026-11-20T09:30:00.000Z"}', 'placedAt: is not a known field'],
    ['{"petId":ID,"__proto__":{}}', '__proto__: is not a known field'],
    ['{"petId":ID,"":5}', '"": is not a known field'],
    ['{"petId":1.5,"id":5,"x":1}', `${PET_ID}; id: is not a known field; x: is not a known field`],
    ['[]', OBJECT],
    ['[{"petId":ID}]', OBJECT],
    ['null', OBJECT],
    ['ID', OBJECT],
  ])('%s', async (body, message) => {
    const reply = await rejectedOrder(body);
    expect(reply.body).toEqual({ code: 'invalid_request', message, status: 400 });
    expect(reply.status).toBe(400);
  });

  test('a query', async () => {
    const petId = await addPet(store);
    const reply = await store.send('POST', '/v1/store/orders?dryRun=1', { petId });
    expect(reply.body).toMatchObject({ message: 'dryRun: is not a known parameter', status: 400 });
    expect((await store.fetch('/v1/store/orders')).text).toBe('[]');
  });
});

describe('updateOrder rejects', () => {
  test.each([
    ['{"status":"PLACED"}', STATUS],
    ['{"status":"shipped"}', STATUS],
    ['{"status":"sold"}', STATUS],
    ['{"status":""}', STATUS],
    ['{"status":null}', STATUS],
    ['{"status":1}', STATUS],
    ['{"status":["approved"]}', STATUS],
    ['{}', 'status: is required'],
    [
      '{"stauts":"approved"}',
      'status: is required; stauts: is not a known field, did you mean status?',
    ],
    ['{"status":"approved","status":"approved"}', 'status: must be given only once'],
    ['{"status":"approved","id":5}', 'id: is not a known field'],
    ['{"status":"approved","petId":5}', 'petId: is not a known field'],
    [
      '{"status":"approved","placedAt":"2026-11-20T09:30:00.000Z"}',
      'placedAt: is not a known field',
    ],
    ['["approved"]', OBJECT],
    ['"approved"', OBJECT],
    ['null', OBJECT],
  ])('%s', async (body, message) => {
    const reply = await rejectedUpdate(body);
    expect(reply.body).toEqual({ code: 'invalid_request', message, status: 400 });
    expect(reply.status).toBe(400);
  });

  test('a query', async () => {
    const { id } = await placeOrder(store, await addPet(store));
    const path = `/v1/store/orders/${id}?status=approved`;
    expect((await store.send('PATCH', path, { status: 'approved' })).body).toMatchObject({
      message: 'status: is not a known parameter',
      status: 400,
    });
  });
});

describe.each([
  ['placeOrder', rejectedOrder, 'application/json'],
  ['updateOrder', rejectedUpdate, 'application/json, application/merge-patch+json'],
] as const)('%s rejects a body that is', (_, rejected, accepted) => {
  test.each([
    ['empty', '', 'The body must not be empty.'],
    ['cut short', '{"petId":ID', 'The body must be valid JSON.'],
    ['two texts', '{"status":"approved"}{}', 'The body must be valid JSON.'],
    [
      'nested too deeply',
      `${'['.repeat(33)}${']'.repeat(33)}`,
      'The body must not be nested more than 32 levels deep.',
    ],
  ])('%s', async (_case, body, message) => {
    const reply = await rejected(body);
    expect(reply.body).toEqual({ code: 'invalid_json', message, status: 400 });
    expect(reply.status).toBe(400);
  });

  test('larger than 16 KiB', async () => {
    const reply = await rejected('{"petId":ID,"status":"approved"}'.padEnd(16 * 1024 + 10));
    expect(reply.body).toMatchObject({ code: 'body_too_large', status: 413 });
    expect(reply.status).toBe(413);
  });

  test.each(['text/plain', 'application/problem+json', 'application/json; charset=iso-8859-1'])(
    'of type %s',
    async (contentType) => {
      const reply = await rejected('{"petId":ID}', contentType);
      expect(reply.body).toMatchObject({ code: 'unsupported_media_type', status: 415 });
      expect([reply.status, reply.headers.get('accept')]).toEqual([415, accepted]);
    },
  );
});

test('a merge patch is accepted by PATCH and rejected by POST', async () => {
  const headers = { 'content-type': 'application/merge-patch+json' };
  const rejected = await rejectedOrder('{"petId":ID}', headers['content-type']);
  expect([rejected.status, rejected.headers.get('accept')]).toEqual([415, 'application/json']);
  const { id } = await placeOrder(store, await addPet(store));
  const body = { status: 'approved' };
  const reply = await store.send('PATCH', `/v1/store/orders/${id}`, body, { headers });
  expect([reply.status, reply.body]).toMatchObject([200, body]);
});
