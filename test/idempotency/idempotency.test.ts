/** `Idempotency-Key`: of every create with the bodies of its description, then of animals. */
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { KEPT_HOURS, KEPT_MS } from '../../src/idempotency/create-once.ts';
import { creates, problems } from '../support/contract.ts';
import { stopTime } from '../support/in-process.ts';
import { withNewName } from '../support/new-name.ts';
import { expectError, stepsOf } from '../support/steps.ts';
import { type Reply, startStore } from '../support/store.ts';
import { sendInProcess } from '../support/stubs.ts';

const store = startStore();
const { insertPet, updatePet, deletePet, insertRowsOfExamples, expectUnchanged } = stepsOf(store);

const withKey = (key: string) => ({ headers: { 'idempotency-key': key } });

function expectFirst({ status, headers }: Reply): void {
  expect([status, headers.has('idempotency-replayed')]).toEqual([201, false]);
}

function expectReplay(reply: Reply, first: Reply): void {
  expect([reply.status, reply.text]).toEqual([201, first.text]);
  expect(reply.headers.get('location')).toBe(first.headers.get('location'));
  expect(reply.headers.get('idempotency-replayed')).toBe('true');
}

function expectReused(reply: Reply): void {
  const message = `This Idempotency-Key was used with another body within the last ${KEPT_HOURS} hours.`;
  expectError(reply, 422, 'idempotency_key_reused', message);
}

/** The same body in other words: its fields in another order, with white space, escapes and fractions. */
function rewrite(body: object = {}): string {
  const reversed = Object.fromEntries(Object.entries(body).reverse());
  const spaced = JSON.stringify(reversed, null, 1);
  return spaced.replaceAll('d', '\\u0064').replaceAll(/: (\d+)/g, ': $1.0');
}

/** Another valid body: one field has another value. */
function otherBody({ exampleBody = {}, pointer }: (typeof creates)[number]): object | undefined {
  const schema = `${pointer}/requestBody/content/application~1json/schema`;
  const others = Object.entries(exampleBody).map(([name, value]) => {
    const other = typeof value === 'number' ? value + 1 : `${value}s`;
    return { ...exampleBody, [name]: other };
  });
  return others.find((body) => problems(schema, body).length === 0);
}

describe.each(creates)('$operationId', (create) => {
  const { examplePath: path, exampleBody } = create;
  const other = otherBody(create);
  const send = (key: string, body: unknown = exampleBody) =>
    store.send('POST', path, body, withKey(key));

  beforeEach(insertRowsOfExamples);

  test('a retry may quote the key, and write the same body in other words', async () => {
    const first = await send('k');
    const retry = await expectUnchanged(() => send('"k"', rewrite(exampleBody)));
    expectReplay(retry, first);
  });

  test('another body is a 422, and the same one still a retry', async () => {
    const first = await send('k');
    expectReused(await expectUnchanged(() => send('k', other)));
    expectReplay(await send('k'), first);
  });
});

const REX = { name: 'Rex', categoryId: 3 };

test('an idempotency key is valid for exactly KEPT_HOURS', async () => {
  stopTime();
  const apiKey = await store.issueKey();
  const bindings = await store.bindings();
  const create = { method: 'POST', path: '/v1/pets', body: JSON.stringify(REX), ...withKey('k') };
  const isReplayed = async () => {
    const { headers } = await sendInProcess(create, bindings, apiKey);
    return headers.has('idempotency-replayed');
  };
  expect(await isReplayed()).toBe(false);
  vi.advanceTimersByTime(KEPT_MS - 1);
  expect(await isReplayed()).toBe(true);
  vi.advanceTimersByTime(1);
  expect(await isReplayed()).toBe(false);
});

// The id of an API key and an idempotency key can be any text.
test.each(['', ' ', ',', ':', '|'])(
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
  ['without the status', '{"name":"Rex","categoryId":9007199254740993}'],
  ['with another digit', '{"name":"Rex","categoryId":9007199254740992,"status":"sold"}'],
  ['with another case', '{"name":"rex","categoryId":9007199254740993,"status":"sold"}'],
])('a body %s is another body', async (_, body) => {
  await store.createPet(
    '{"name":"Rex","categoryId":9007199254740993,"status":"sold"}',
    withKey('k'),
  );
  expectReused(await expectUnchanged(() => store.createPet(body, withKey('k'))));
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
  await insertPet({ id: 7 });
  const reply = await store.send('PATCH', '/v1/pets/7', { name: 'Tom' }, withKey('é'));
  expect(reply.status).toBe(200);
});
