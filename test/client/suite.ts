/**
 * What can differ between runtimes: the same test cases in each, against the real store and a rude server. They use
 * nothing but the language.
 */
import type * as Client from '../../client/src/index.ts';

export type Addresses = { store: string; rude: string; apiKey: string };

const MAX = 2n ** 63n - 1n;
const REX = { name: 'Rex 🐈', categoryId: -MAX, status: 'available' } as const;

/** Runs the test cases in this runtime, and returns the error of each that fails. */
export async function runSuite(client: typeof Client, addresses: Addresses): Promise<string[]> {
  const { store: baseUrl, apiKey } = addresses;
  const custom: Client.Fetch = async (url, init) => fetch(url, init);
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

  const cases: Record<string, () => Promise<void>> = {
    async 'every operation keeps every digit'() {
      const store = client.createAnimalStore({ baseUrl, apiKey });
      expectEqual(typeof (await store.getHealth()).version, 'string');
      await store.createPet({ name: 'Mia', categoryId: 7n });
      const session = store.session();
      const rex = await session.createPet(REX);
      expectEqual(/^[0-9a-f]{8}-/.test(session.bookmark), true);
      expectEqual(rex, { id: rex.id, ...REX });
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
    },
    async 'an attempt without a response is repeated'() {
      for (const store of [
        rude('hangs', { attemptTimeoutMs: 1000 }),
        rude('breaks'),
        rude('breaks', { fetch: custom }),
      ]) {
        const { metadata } = await store.getHealth().withMetadata();
        expectEqual(metadata.attempts >= 2, true);
      }
    },
    async 'a failed connection is a network_error with its cause'() {
      const nobody = { baseUrl: 'http://127.0.0.1:9' };
      for (const store of [
        rude('resets'),
        rude('', nobody),
        rude('', { ...nobody, fetch: custom }),
      ]) {
        const { code, cause, outcomeUnknown } = await failureOf(store.updatePet(1n, {}));
        expectEqual([code, cause instanceof Error, outcomeUnknown], ['network_error', true, true]);
      }
    },
    async 'a redirect is not followed'() {
      const { code, status, message } = await failureOf(rude('redirects').createPet(REX));
      // A browser hides the status and the target.
      const isNamed = status === 0 || (status === 307 && message.includes('/target'));
      expectEqual([code, isNamed], ['invalid_response', true]);
    },
    async 'an endless response is an invalid_response'() {
      expectEqual((await failureOf(rude('is-endless').getHealth())).code, 'invalid_response');
    },
    async 'a timeout is a TimeoutError'() {
      const { code, cause } = await failureOf(rude('is-silent', { deadlineMs: 500 }).getHealth());
      expectEqual([code, Object(cause).name], ['deadline_exceeded', 'TimeoutError']);
    },
    async 'an abort ends a call that waits for a response'() {
      const controller = new AbortController();
      const call = rude('is-silent').createPet(REX, { signal: controller.signal });
      controller.abort('enough');
      const { code, cause, outcomeUnknown } = await failureOf(call);
      expectEqual([code, cause, outcomeUnknown], ['aborted', 'enough', true]);
    },
  };
  const runs = Object.entries(cases).map(([name, run]) =>
    run().catch((error) => `${name}: ${error.stack}`),
  );
  return (await Promise.all(runs)).filter((failure) => failure !== undefined);
}

/** Compares as JSON does, and bigints exactly. */
function expectEqual(actual: unknown, expected: unknown): void {
  const [shown, wanted] = [actual, expected].map((value) =>
    JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : part)),
  );
  if (shown !== wanted) throw new Error(`expected ${wanted}, but got ${shown}`);
}
