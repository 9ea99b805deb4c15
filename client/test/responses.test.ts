/** Sessions, and the bodies of responses. */
import { expect, test, vi } from 'vitest';
import { type Answer, clientWith, headerOf, problem, reply, unavailable } from './fake.ts';

const stamped = (bookmark: string) => reply('[]', { headers: { 'X-D1-Bookmark': bookmark } });

test('a session sends its newest bookmark, and after a 503 reads from the primary', async () => {
  const failed = problem(404, 'not_found', { 'X-D1-Bookmark': '0003' });
  // Neither an older bookmark nor a response without one replaces the newest.
  const later = [stamped('0001'), reply('[]'), unavailable, stamped('0004')];
  const answers = [stamped('0002'), failed, ...later];
  const { store, requests } = clientWith(answers);
  const session = store.session('first-unconstrained');
  await session.listPets().page();
  await expect(session.listPets().page()).rejects.toMatchObject({ code: 'not_found' });
  for (const _ of [1, 2, 3]) await session.listPets().page();
  await store.session(session.bookmark).listPets().page();
  await store.listPets().page();
  const sent = [
    'first-unconstrained',
    '0002',
    ...Array(3).fill('0003'),
    'first-primary',
    '0004',
    null,
  ];
  expect(headerOf(requests, 'X-D1-Bookmark')).toEqual(sent);
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
  const sent = ['first-primary', '0001', '0001', 'first-primary'];
  expect(headerOf(requests, 'X-D1-Bookmark')).toEqual(sent);
});

test.each([
  { status: 503, next: 'first-primary' },
  { status: 500, next: '0001' },
  { status: 408, next: '0001' },
  { status: 425, next: '0001' },
])('after a $status a read of a session continues from $next', async ({ status, next }) => {
  const failed = problem(status, 'unavailable');
  const { store, requests } = clientWith([stamped('0001'), failed, stamped('0002')]);
  const session = store.session();
  for (const _ of [1, 2]) await session.listPets().page();
  expect(headerOf(requests, 'X-D1-Bookmark')).toEqual(['first-primary', '0001', next]);
  expect(session.bookmark).toBe('0002');
});

test('a character that is split between two chunks is decoded', async () => {
  const bytes = new TextEncoder().encode('{"id":1,"name":"🐈"}');
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes.slice(0, 18));
      controller.enqueue(bytes.slice(18));
      controller.close();
    },
  });
  expect(await clientWith([reply(body)]).store.getPet(1n)).toEqual({ id: 1n, name: '🐈' });
});

test('a body may have 524,288 characters, but not one more', async () => {
  const answers = [2 ** 19, 2 ** 19 + 1].map((length) => reply('{}'.padEnd(length)));
  const { store } = clientWith(answers);
  expect(await store.getHealth()).toEqual({});
  await expect(store.getHealth()).rejects.toMatchObject({ code: 'invalid_response' });
});

test('an attempt that has ended aborts its signal, which closes its connection', async () => {
  const { store, requests } = clientWith([unavailable, reply('{}')]);
  await store.getHealth();
  expect(requests.map(({ signal }) => signal.aborted)).toEqual([true, true]);
});

/** A body that never ends, and the expectation that it is cancelled. */
function endless(chunk: string) {
  const bytes = new TextEncoder().encode(chunk);
  const cancel = vi.fn();
  const pull = (controller: ReadableStreamDefaultController) =>
    chunk ? controller.enqueue(bytes) : new Promise<void>(() => {});
  const expectCancelled = () => vi.waitFor(() => expect(cancel).toHaveBeenCalled(), 10_000);
  return { body: new ReadableStream({ pull, cancel }), expectCancelled };
}

// Otherwise, this fetch, which ignores its signal, would read on for ever.
test('a body that is too long is cancelled', async () => {
  const { body, expectCancelled } = endless(' '.repeat(2 ** 16));
  const call = clientWith([reply(body)]).store.getHealth();
  await expect(call).rejects.toMatchObject({ code: 'invalid_response' });
  await expectCancelled();
});

test('a body that is too late is cancelled', async () => {
  const { body, expectCancelled } = endless('');
  const options = { maxAttempts: 1, attemptTimeoutMs: 1 };
  const call = clientWith([reply(body)], options).store.getHealth();
  await expect(call).rejects.toMatchObject({ code: 'network_error', status: 200 });
  await expectCancelled();
});

test('the body of a response that comes after the end of its attempt is cancelled', async () => {
  const { body, expectCancelled } = endless('');
  let answerLate = (_: Response) => {};
  const late: Answer = () => new Promise((resolve) => (answerLate = resolve));
  const options = { maxAttempts: 1, attemptTimeoutMs: 1 };
  const call = clientWith([late], options).store.getHealth();
  await expect(call).rejects.toMatchObject({ code: 'network_error', status: undefined });
  answerLate(new Response(body));
  await expectCancelled();
});

test('a body that fails while it is cancelled leaves nothing unhandled', async () => {
  const cancel = () => Promise.reject(new Error('lost'));
  const options = { maxAttempts: 1, attemptTimeoutMs: 1 };
  const answers = [reply(new ReadableStream({ cancel }))];
  const call = clientWith(answers, options).store.getHealth();
  // With an unhandled rejection, the run would fail.
  await expect(call).rejects.toMatchObject({ code: 'network_error' });
});
