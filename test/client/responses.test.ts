/** Sessions, responses, and the error codes of the store. */
import { expect, test } from 'vitest';
import type { ServiceErrorCode } from '../../client/src/index.ts';
import { STATUS_OF } from '../../src/errors.ts';
import { README } from './documents.ts';
import { type Answer, clientWith, json, problem, REX } from './fake.ts';

const stamped = (bookmark: string) => json([], { 'X-D1-Bookmark': bookmark });
const bookmarksOf = (requests: Request[]) =>
  requests.map(({ headers }) => headers.get('X-D1-Bookmark'));

test('a session sends its newest bookmark, also when responses arrive out of order', async () => {
  const failed = problem(404, 'not_found', { 'X-D1-Bookmark': '0003' });
  const { store, requests } = clientWith([stamped('0002'), failed, stamped('0001')]);
  const session = store.session('first-unconstrained');
  await session.listPets().page();
  await expect(session.listPets().page()).rejects.toMatchObject({ code: 'not_found' });
  await session.listPets().page();
  expect(session.bookmark).toBe('0003');
  await store.listPets().page();
  await store.session(session.bookmark).listPets().page();
  const sent = ['first-unconstrained', '0002', '0003', null, '0003'];
  expect(bookmarksOf(requests)).toEqual(sent);
});

test('a session continues from the primary after a write whose outcome is unknown', async () => {
  let answerLate = (_: Response) => {};
  const late: Answer = () => new Promise((resolve) => (answerLate = resolve));
  const failed = problem(500, 'internal_error');
  const { store, requests } = clientWith([stamped('0001'), late, failed, stamped('0002')]);
  const session = store.session();
  await session.listPets().page();
  const inFlight = session.listPets().page();
  await expect(session.updatePet(1n, {})).rejects.toMatchObject({ outcomeUnknown: true });
  answerLate(await stamped('0009')());
  await inFlight;
  expect(session.bookmark).toBe('first-primary');
  await session.listPets().page();
  expect(bookmarksOf(requests)).toEqual(['first-primary', '0001', '0001', 'first-primary']);
});

test('metadata has the deprecation, the sunset and the replay', async () => {
  const dates = { Deprecation: '@1795132800', Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' };
  const { store } = clientWith([json({ id: 1 }, { ...dates, 'Idempotency-Replayed': 'true' })]);
  const { data, metadata } = await store.getPet(1n).withMetadata();
  expect(data).toEqual({ id: 1n });
  expect(metadata).toMatchObject({
    status: 200,
    deprecation: new Date('2026-11-20'),
    sunset: new Date('2030-12-05'),
    idempotencyReplayed: true,
    retryAfterSeconds: 0,
  });
});

test.each([
  [200, 'null'],
  [200, '"ok"'],
  [200, '[]'],
  [200, '{'],
  [204, null],
  [302, '{"code":"not_found","message":"a message"}'],
  [404, '{"code":7,"message":"a message"}'],
  [404, '{"code":"not_found"}'],
])('a %d with the body %s is an invalid_response', async (status, body) => {
  const { store } = clientWith([() => new Response(body, { status })]);
  const failure = { code: 'invalid_response', status, attempts: 1, outcomeUnknown: status < 400 };
  await expect(store.createPet(REX)).rejects.toMatchObject(failure);
});

test('an invalid_response shows the media type and the first 200 characters', async () => {
  const html = `<h1>Log in</h1>${'x'.repeat(185)}`;
  const headers = { 'Content-Type': 'text/html', 'X-Request-Id': 'id-1' };
  const { store } = clientWith([() => new Response(`${html}more`, { headers })]);
  const message = `Not a response of the store: 200 text/html ${html}`;
  await expect(store.getHealth()).rejects.toMatchObject({ message, requestId: 'id-1' });
});

const STATUSES: Record<ServiceErrorCode, number> = STATUS_OF;

test.each(Object.entries(STATUSES))('%s is a StoreError with this code', async (code, status) => {
  const { store } = clientWith([problem(status, code)], { maxAttempts: 1 });
  const failure = { code, status, requestId: `id-${status}`, outcomeUnknown: status >= 500 };
  await expect(store.createPet(REX)).rejects.toMatchObject({ name: 'StoreError', ...failure });
});

test('README.md lists these codes, in this order', () => {
  const [, list = ''] = /`code` is a code of the store \((.*?)\)/s.exec(README) ?? [];
  const listed = Array.from(list.matchAll(/`(\w+)`/g), ([, code]) => code);
  expect(listed).toEqual(Object.keys(STATUSES));
});

test('an error keeps the fields of its body that the client does not know', async () => {
  const answer = () => Response.json({ code: 'new_code', message: 'm', petId: 7 }, { status: 409 });
  const body = { code: 'new_code', message: 'm', petId: 7n };
  const failure = clientWith([answer]).store.placeOrder({ petId: 7n });
  await expect(failure).rejects.toMatchObject({ code: 'new_code', message: 'm', body });
});
