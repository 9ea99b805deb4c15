/** Ids in paths, the ids of new items, and digits beyond 2^53. */
import { describe, expect, test } from 'vitest';
import { creates, INT64, itemOperations, readable } from '../support/contract.ts';
import { startApp } from '../support/in-process.ts';
import { expectError, stepsOf } from '../support/steps.ts';
import { startStore } from '../support/store.ts';

const store = startStore();
const { insertPet, createExample, expectUnchanged } = stepsOf(store);
const sendWithoutD1 = startApp(store);

test.each([
  ...['1e3', '0x10', '+1', '--1', '-', '%201', '%', '1%ff', '1%0A', '%EF%BC%95', '1%2F2'],
  '-9223372036854775809',
])('%s is not an id', async (id) => {
  const reply = await sendWithoutD1('GET', `/v1/pets/${id}`);
  expectError(reply, 400, 'invalid_request', `petId: ${INT64}`);
});

describe.each(itemOperations)('$operationId', (operation) => {
  const { method, collection, idName, exampleBody } = operation;

  test('an id that is not an int64 is a 400', async () => {
    const reply = await sendWithoutD1(method, `${collection}/9223372036854775808`);
    expectError(reply, 400, 'invalid_request', `${idName}: ${INT64}`);
  });

  test('an unknown id is a 404 that changes nothing', async () => {
    // Such as adoption_request_not_found of adoptionRequestId.
    const words = idName.replace(/Id$/, '').replaceAll(/[A-Z]/g, '_$&');
    const code = `${words.toLowerCase()}_not_found`;
    const message = expect.stringMatching(/ -9223372036854775808\b/);
    // A row that a mistake could change.
    await insertPet({ id: 1, status: 'available' });
    const reply = await expectUnchanged(() =>
      store.send(method, `${collection}/-9223372036854775808`, exampleBody),
    );
    expectError(reply, 404, code, message);
  });
});

const KEY = { headers: { 'idempotency-key': 'k' } };

describe.each(creates)('$operationId', (create) => {
  const { examplePath: path, fields, exampleBody } = create;

  test('the id of a deleted item is not used again', async () => {
    const deleted = await createExample(create);
    await store.exec(
      store
        .tables()
        .map((table) => `DELETE FROM ${table}`)
        .join('; '),
    );
    const created = await createExample(create);
    expect(created.status).toBe(201);
    expect(created.headers.get('location')).not.toBe(deleted.headers.get('location'));
  });

  test('no digit is lost beyond 2^53', async () => {
    const int64s = Object.keys(fields).filter((name) => fields[name]?.format === 'int64');
    const value = JSON.rawJSON('9007199254740993');
    const body = { ...exampleBody, ...Object.fromEntries(int64s.map((name) => [name, value])) };
    // A table without a row has no line in sqlite_sequence to update.
    await createExample(create);
    // The animals that an order can name. As doubles, their ids are the same number.
    await insertPet({ id: 9007199254740992n, status: 'available' });
    await insertPet({ id: 9007199254740993n, status: 'available' });
    await store.exec('UPDATE sqlite_sequence SET seq = 9007199254740994');

    const created = await store.send('POST', path, body, KEY);
    expect(created.text).toContain('{"id":9007199254740995,');
    for (const name of int64s) expect(created.text).toContain(`"${name}":9007199254740993`);
    const location = created.headers.get('location') ?? '';
    for (const address of readable([new URL(location).pathname, path]))
      expect((await store.fetch(address)).text).toContain(created.text);

    const replayed = await store.send('POST', path, body, KEY);
    expect(replayed.text).toBe(created.text);
    expect(replayed.headers.get('location')).toBe(location);
  });
});
