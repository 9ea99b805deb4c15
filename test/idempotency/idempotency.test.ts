/** `Idempotency-Key`: of every create with the bodies of its description, then of animals. */
import { expect, test, vi } from 'vitest';
import { KEPT_HOURS, KEPT_MS } from '../../src/idempotency/create-once.ts';
import { creates } from '../support/contract.ts';
import { stopTime } from '../support/in-process.ts';
import { withNewName } from '../support/new-name.ts';
import { expectError, stepsOf } from '../support/steps.ts';
import { type Reply, startStore } from '../support/store.ts';
import { sendInProcess } from '../support/stubs.ts';

const store = startStore();
const { updatePet, deletePet, insertRowsOfExamples, expectUnchanged } = stepsOf(store);

const withKey = (key: string) => ({ headers: { 'idempotency-key': key } });

function expectFirst({ status, headers }: Reply) {
  expect([status, headers.has('idempotency-replayed')]).toEqual([201, false]);
}

function expectReplay(reply: Reply, first: Reply) {
  expect([reply.status, reply.text]).toEqual([201, first.text]);
  expect(reply.headers.get('location')).toBe(first.headers.get('location'));
  expect(reply.headers.get('idempotency-replayed')).toBe('true');
}

/** The same body in other words: its fields in another order, with white space, escapes and fractions. */
function rewrite(body: object = {}) {
  const reversed = Object.fromEntries(Object.entries(body).reverse());
  const spaced = JSON.stringify(reversed, null, 1);
  return spaced.replaceAll('d', '\\u0064').replaceAll(/: (\d+)/g, ': $1.0');
}

test.each(creates)(
  'a retry of $operationId may quote the key, and write the same body in other words',
  async (create) => {
    const { examplePath: path, exampleBody } = create;
    await insertRowsOfExamples();
    const first = await store.send('POST', path, exampleBody, withKey('k'));
    const retry = await expectUnchanged(() =>
      store.send('POST', path, rewrite(exampleBody), withKey('"k"')),
    );
    expectReplay(retry, first);
  },
);

const REX = { name: 'Rex', categoryId: 3 };

test('an idempotency key is valid for exactly KEPT_HOURS', async () => {
  stopTime();
  const apiKey = await store.issueKey();
  const bindings = store.bindings();
  const create = { method: 'POST', path: '/v1/pets', body: JSON.stringify(REX), ...withKey('k') };
  const isReplayed = async () => {
    const { status, headers } = await sendInProcess(create, bindings, apiKey);
    expect(status).toBe(201);
    return headers.has('idempotency-replayed');
  };
  expect(await isReplayed()).toBe(false);
  vi.advanceTimersByTime(KEPT_MS - 1);
  expect(await isReplayed()).toBe(true);
  vi.advanceTimersByTime(1);
  expect(await isReplayed()).toBe(false);
});

// The id of an API key and an idempotency key can be any text.
test.each(['', ',', ':', '|'])(
  'two clients whose id, operation and key are one text when joined by "%s" share no key',
  async (by) => {
    const first = { key: await store.issueKey({ id: 'a' }), ...withKey(`createPet${by}k`) };
    const second = { key: await store.issueKey({ id: `a${by}createPet` }), ...withKey('k') };
    expectFirst(await store.createPet(withNewName(REX), first));
    expectFirst(await store.createPet(withNewName(REX), second));
  },
);

test('a rotated API key is still the same client, and another one is not', async () => {
  const createAs = async (record: object, body: object) => {
    const key = await store.issueKey(record);
    return store.createPet(body, { key, ...withKey('k') });
  };
  const first = await createAs({ id: 'key_1' }, REX);
  expectReplay(await createAs({ id: 'key_2', family: 'key_1' }, REX), first);
  expectFirst(await createAs({ id: 'key_3' }, withNewName(REX)));
});

test.each([
  '{"name":"Rex","categoryId":9007199254740993}',
  '{"name":"Rex","categoryId":9007199254740992,"status":"sold"}',
  '{"name":"rex","categoryId":9007199254740993,"status":"sold"}',
])('another body is a 422, and the same one still a retry: %s', async (other) => {
  const send = (body: string) => store.createPet(body, withKey('k'));
  const body = '{"name":"Rex","categoryId":9007199254740993,"status":"sold"}';
  const first = await send(body);
  const reply = await expectUnchanged(() => send(other));
  const message = `This Idempotency-Key was used with another path or body within the last ${KEPT_HOURS} hours.`;
  expectError(reply, 422, 'idempotency_key_reused', message);
  expectReplay(await send(body), first);
});

test('a replay is the first response, even if its animal was changed and deleted', async () => {
  const first = await store.createPet(REX, withKey('k'));
  await updatePet(1, { name: 'Tom' });
  await deletePet(1);
  expectReplay(await expectUnchanged(() => store.createPet(REX, withKey('k'))), first);
});

test('a key is quoted only if the quotes are around all of it', async () => {
  expectFirst(await store.createPet(REX, withKey('"k"')));
  expectFirst(await store.createPet(withNewName(REX), withKey('"k"k')));
});

test('an operation that is not a create ignores Idempotency-Key', async () => {
  const reply = await store.send('PATCH', '/v1/pets/7', { name: 'Tom' }, withKey('é'));
  expect(reply.status).toBe(404);
});
