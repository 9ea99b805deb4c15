/** Sessions, and the bodies of responses. */
import { expect, test, vi } from 'vitest';
import { text } from '../../test/support/contract.ts';
import type { FetchResponse } from '../src/index.ts';
import { parseBody } from '../src/response.ts';
import { clientWith, headerOf, lost, problem, reply, silence, unavailable } from './fake.ts';

const stamped = (bookmark: string, body: BodyInit = '[]', status = 200) =>
  reply(body, { status, headers: { 'X-D1-Bookmark': bookmark } });

/** What the reads of a session send, if these are the responses. */
test.each([
  {
    rule: 'the newest bookmark, in whatever order responses arrive, with and without one',
    answers: [reply('[]'), stamped('0002'), stamped('0001'), reply('[]'), stamped('0003')],
    sent: ['first-primary', '0002', '0002', '0002', '0003'],
  },
  {
    rule: 'the bookmark of an error, even if its body is lost',
    answers: [stamped('0001', new ReadableStream({ pull: lost }), 404)],
    sent: ['0001'],
  },
  {
    rule: 'first-primary after a 503, and its bookmark after another 5xx, a 408 and a lost response',
    answers: [stamped('0001'), problem(500, 'a'), problem(408, 'a'), lost, unavailable],
    sent: ['0001', '0001', '0001', '0001', 'first-primary'],
  },
])('a session sends $rule', async ({ answers, sent }) => {
  const { store, requests } = clientWith([...answers, reply('[]')], { maxAttempts: 1 });
  const session = store.session();
  for (const _ of [...answers, reply]) await session.listPets().page().catch(String);
  expect(headerOf(requests, 'X-D1-Bookmark')).toEqual(['first-primary', ...sent]);
});

test('a session starts where the caller says, and other calls send no bookmark', async () => {
  const { store, requests } = clientWith([stamped('0001'), reply('[]')]);
  const session = store.session('first-unconstrained');
  await session.listPets().page();
  await store.session(session.bookmark).listPets().page();
  await store.listPets().page();
  expect(headerOf(requests, 'X-D1-Bookmark')).toEqual(['first-unconstrained', '0001', null]);
});

/** Writes whose outcome is unknown. */
test.each([
  { end: 'fails', answer: problem(500, 'internal_error'), options: {} },
  { end: 'is interrupted', answer: silence, options: { deadlineMs: 1 } },
])('a session continues from the primary after a write that $end', async (row) => {
  const late = Promise.withResolvers<FetchResponse>();
  const answers = [stamped('0001'), () => late.promise, row.answer, stamped('0002')];
  const { store, requests } = clientWith(answers);
  const session = store.session();
  await session.listPets().page();
  const inFlight = session.listPets().page();
  const write = session.updatePet(1n, {}, row.options);
  await expect(write).rejects.toMatchObject({ outcomeUnknown: true });
  // A response of before the write may not show it.
  late.resolve(await stamped('0009')());
  await inFlight;
  await session.listPets().page();
  expect(session.bookmark).toBe('0002');
  const sent = ['first-primary', '0001', '0001', 'first-primary'];
  expect(headerOf(requests, 'X-D1-Bookmark')).toEqual(sent);
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

/** A list of a pet that has `length` further fields. */
const petWith = (length: number) => `[{${Array.from({ length }, (_, i) => `"f${i}":[]`)}}]`;

test.each([
  { most: '524,288 characters', body: '[]'.padEnd(524_288), more: '[]'.padEnd(524_289) },
  { most: '1,024 values', body: petWith(1_022), more: petWith(1_023) },
])('a body may have $most, but not one more', async ({ body, more }) => {
  const { store } = clientWith([reply(body), reply(more)]);
  await store.listPets().page();
  await expect(store.listPets().page()).rejects.toMatchObject({ code: 'invalid_response' });
});

const { schemas } = JSON.parse(text).components;
const lists = Object.keys(schemas).filter((name) => schemas[name].items);

test.each(lists)('a body may have the largest page of %s', (name) => {
  const { maxItems, items } = schemas[name];
  const { properties } = schemas[items.$ref.split('/').at(-1)];
  const fields = Object.values<{ maxLength?: number }>(properties);
  // Each character of a text can have an escape.
  const texts = fields.map(({ maxLength = 0 }) => '"'.repeat(maxLength));
  const page = JSON.stringify(Array(maxItems).fill(texts));
  expect(parseBody(page), 'Raise the limits in src/response.ts and README.md').toBeDefined();
});

/** A body that never ends, and the expectation that it is cancelled. */
function endless(chunk: string) {
  const bytes = new TextEncoder().encode(chunk);
  // With an unhandled rejection, the run would fail.
  const cancel = vi.fn(() => Promise.reject(new Error('lost')));
  const pull = (controller: ReadableStreamDefaultController) =>
    chunk ? controller.enqueue(bytes) : new Promise<void>(() => {});
  const expectCancelled = () => vi.waitFor(() => expect(cancel).toHaveBeenCalled(), 10_000);
  return { body: new ReadableStream({ pull, cancel }), expectCancelled };
}

/** An attempt without time. */
const LATE = { maxAttempts: 1, attemptTimeoutMs: 1 };

// Otherwise, a fetch that ignores its signal would read on for ever.
test.each([
  { end: 'long', chunk: 'x'.repeat(2 ** 16), options: {}, code: 'invalid_response' },
  { end: 'late', chunk: '', options: LATE, code: 'network_error' },
])('a body that is too $end is cancelled', async ({ chunk, options, code }) => {
  const { body, expectCancelled } = endless(chunk);
  const call = clientWith([reply(body)], options).store.getHealth();
  const message = expect.stringContaining(chunk.slice(0, 99));
  await expect(call).rejects.toMatchObject({ code, status: 200, message });
  await expectCancelled();
});

test('the body of a response that comes after the end of its attempt is cancelled', async () => {
  const { body, expectCancelled } = endless('');
  const late = Promise.withResolvers<FetchResponse>();
  const call = clientWith([() => late.promise], LATE).store.getHealth();
  await expect(call).rejects.toMatchObject({ code: 'network_error', status: undefined });
  late.resolve(new Response(body));
  await expectCancelled();
});
