/**
 * What can differ between runtimes: the same test cases in each, against the real store and a rude server. They use
 * nothing but the language.
 */
import type * as Client from '../../client/src/index.ts';

export type Addresses = { store: string; rude: string; apiKey: string };

const MAX = 2n ** 63n - 1n;
const REX = { name: 'Rex 🐈', categoryId: -MAX, status: 'available' } as const;

/** The suite in this runtime: the error of each test case that fails. */
export async function runSuite(client: typeof Client, addresses: Addresses): Promise<string[]> {
  const { store: baseUrl, apiKey } = addresses;
  const store = client.createAnimalStore({ baseUrl, apiKey });
  /** A client of the rude server, with a number, so that no two test cases share what happens once. */
  const rude = (behaviour: string, options: Partial<Client.StoreOptions> = {}) => {
    const address = `${addresses.rude}/${behaviour}/${Math.random()}`;
    return client.createAnimalStore({ baseUrl: address, apiKey, ...options });
  };
  const failureOf = async (call: Promise<unknown>): Promise<Client.StoreError> => {
    const outcome = await call.catch((error: unknown) => error);
    if (outcome instanceof client.StoreError) return outcome;
    throw new Error(`expected a StoreError, but got ${outcome}`);
  };
  const failures: string[] = [];
  const test = (name: string, behaviour: () => Promise<void>) =>
    behaviour().catch((error) => failures.push(`${name}: ${error.stack}`));

  await test('every operation keeps every digit', async () => {
    expectEqual(typeof (await store.getHealth()).version, 'string');
    await store.createPet({ name: 'Mia', categoryId: 7n });
    const session = store.session();
    const rex = await session.createPet(REX);
    expectEqual(/^[0-9a-f]{8}-/.test(session.bookmark), true);
    expectEqual([rex.name, rex.categoryId], [REX.name, REX.categoryId]);
    const pet = await store.updatePet(rex.id, { categoryId: MAX });
    expectEqual(pet, { ...rex, categoryId: MAX });
    expectEqual(await session.getPet(rex.id), pet);
    // At least two pages.
    expectEqual((await store.listPets({ limit: 1 }).toArray({ max: 1000 })).at(-1), pet);

    const placed = await store.placeOrder({ petId: rex.id });
    const order = await store.updateOrder(placed.id, { status: 'cancelled' });
    expectEqual(order, { ...placed, status: 'cancelled' });
    expectEqual(await store.getOrder(placed.id), order);
    const cancelled = store.listOrders({ status: 'cancelled' });
    expectEqual((await cancelled.toArray({ max: 1000 })).at(-1), order);
    expectEqual(await store.deletePet(rex.id), undefined);
    const { code, status, requestId } = await failureOf(store.getPet(rex.id));
    expectEqual([code, status, requestId?.length], ['pet_not_found', 404, 36]);
  });
  await test('an attempt without a response is repeated', async () => {
    for (const [behaviour, options] of [
      ['hangs', { attemptTimeoutMs: 1000 }],
      ['breaks', {}],
      ['breaks', { fetch: custom }],
    ] as const) {
      const { metadata } = await rude(behaviour, options).getHealth().withMetadata();
      expectEqual(metadata.attempts >= 2, true);
    }
  });
  await test('a failed connection is a network_error with its cause', async () => {
    const options = { baseUrl: 'http://127.0.0.1:9' };
    for (const store of [
      rude('resets'),
      rude('', options),
      rude('', { ...options, fetch: custom }),
    ]) {
      const { code, cause, outcomeUnknown } = await failureOf(store.updatePet(1n, {}));
      expectEqual([code, cause instanceof Error, outcomeUnknown], ['network_error', true, true]);
    }
  });
  await test('a redirect is not followed', async () => {
    const { code, status, message } = await failureOf(rude('redirects').createPet(REX));
    // A browser hides the status and the target.
    const isNamed = status === 0 || (status === 307 && message.includes('/healthy/pets'));
    expectEqual([code, isNamed], ['invalid_response', true]);
  });
  await test('an endless response is an invalid_response', async () => {
    expectEqual((await failureOf(rude('is-endless').getHealth())).code, 'invalid_response');
  });
  await test('a timeout is a TimeoutError', async () => {
    const call = rude('is-silent', { deadlineMs: 500 }).getHealth();
    const { code, cause } = await failureOf(call);
    expectEqual([code, Object(cause).name], ['deadline_exceeded', 'TimeoutError']);
  });
  await test('an abort ends a call that waits for a response', async () => {
    const controller = new AbortController();
    const call = rude('hangs').createPet(REX, { signal: controller.signal });
    controller.abort('enough');
    const { code, cause, outcomeUnknown } = await failureOf(call);
    expectEqual([code, cause, outcomeUnknown], ['aborted', 'enough', true]);
  });
  return failures;
}

const custom: typeof fetch = async (...args) => fetch(...args);

/** Compares as JSON does, and bigints exactly. */
function expectEqual(actual: unknown, expected: unknown): void {
  const [shown, wanted] = [actual, expected].map((value) =>
    JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? { bigint: `${part}` } : part)),
  );
  if (shown !== wanted) throw new Error(`expected ${wanted}, but got ${shown}`);
}
