/** Sessions, responses, and the error codes of the store. */
import { expect, onTestFinished, test } from 'vitest';
import { isStoreError, type ServiceErrorCode, StoreError } from '../../client/src/index.ts';
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
  answerLate(Response.json([], { headers: { 'X-D1-Bookmark': '0009' } }));
  await inFlight;
  expect(session.bookmark).toBe('first-primary');
  await session.listPets().page();
  expect(bookmarksOf(requests)).toEqual(['first-primary', '0001', '0001', 'first-primary']);
});

test('a read that gets a 503 is repeated from the primary: no replica may have its state', async () => {
  const { store, requests } = clientWith([problem(503, 'service_unavailable'), stamped('0002')]);
  const session = store.session('0009');
  await session.listPets().page();
  expect(bookmarksOf(requests)).toEqual(['0009', 'first-primary']);
  expect(session.bookmark).toBe('0002');
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

test('a failed withMetadata() leaves no unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const listener = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', listener);
  onTestFinished(() => void process.off('unhandledRejection', listener));
  const { store } = clientWith([problem(404, 'pet_not_found')]);
  await store
    .getPet(1n)
    .withMetadata()
    .catch(() => {});
  // Node.js reports one after the microtasks, before this callback.
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
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
  const { store } = clientWith([async () => new Response(body, { status })]);
  const failure = { code: 'invalid_response', status, attempts: 1, outcomeUnknown: status < 400 };
  await expect(store.createPet(REX)).rejects.toMatchObject(failure);
});

test.each([
  [200, { 'Content-Type': 'text/html' }, '200 text/html'],
  [307, { Location: 'https://elsewhere.example/v1' }, '307 https://elsewhere.example/v1'],
])(
  'an invalid_response %d shows the media type or the target, and 200 characters',
  async (status, headers, shown) => {
    const html = `<h1>Log in</h1>${'x'.repeat(185)}`;
    const answer = async () => new Response(`${html}more`, { status, headers });
    const message = `Not a response of the store: ${shown} ${html}`;
    await expect(clientWith([answer]).store.getHealth()).rejects.toMatchObject({ message });
  },
);

test('a character that is split between two chunks is decoded', async () => {
  const bytes = new TextEncoder().encode('{"name":"🐈"}');
  const chunks = [bytes.slice(0, 11), bytes.slice(11)];
  const body = new ReadableStream({
    pull(controller) {
      const chunk = chunks.shift();
      return chunk ? controller.enqueue(chunk) : controller.close();
    },
  });
  const { store } = clientWith([async () => new Response(body)]);
  expect(await store.getPet(1n)).toEqual({ name: '🐈' });
});

test('a body without a web stream is read as text', async () => {
  const headers = new Headers({ 'X-D1-Bookmark': '0001' });
  const text = async () => '{"id":9007199254740993}';
  const { store } = clientWith([async () => ({ status: 200, headers, text })]);
  const session = store.session();
  expect(await session.getPet(1n)).toEqual({ id: 9007199254740993n });
  expect(session.bookmark).toBe('0001');
});

test.each(['stream', 'text'])('a %s that is too long is not parsed', async (kind) => {
  const text = `{"id":1,"list":[${'1,'.repeat(2 ** 18)}1]}`;
  const response = new Response(text);
  const asText = { status: 200, headers: new Headers(), text: async () => text };
  const { store } = clientWith([async () => (kind === 'text' ? asText : response)]);
  await expect(store.getPet(1n)).rejects.toMatchObject({ code: 'invalid_response' });
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
  const body = { code: 'new_code', message: 'm', petId: 7 };
  const { store } = clientWith([async () => Response.json(body, { status: 409 })]);
  const failure = { code: 'new_code', message: 'm', body: { ...body, petId: 7n } };
  await expect(store.placeOrder({ petId: 7n })).rejects.toMatchObject(failure);
});

test('a StoreError can be made with a part of its details', () => {
  const error = new StoreError('pet_not_found', 'No pet.', { metadata: { status: 404 } });
  expect(error).toMatchObject({ status: 404, outcomeUnknown: false, attempts: 0 });
  expect(error.metadata?.headers.get('Link')).toBe(null);
  const unknown = { outcomeUnknown: true, idempotencyKey: 'mine' };
  expect(new StoreError('network_error', 'Lost.', unknown)).toMatchObject(unknown);
});

test('isStoreError knows the error of another copy of the package', () => {
  const copy = Object.assign(new Error(), { name: 'StoreError' });
  const errors = [copy, new StoreError('aborted', ''), new Error('other'), null, 'text'];
  expect(errors.map(isStoreError)).toEqual([true, true, false, false, false]);
});
