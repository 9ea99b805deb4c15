/**
 * What can differ between runtimes: the same test cases in each, against the real store and a rude server. They use
 * nothing but the language.
 */
import type * as Client from '../../client/src/index.ts';

export type Addresses = { store: string; rude: string; apiKey: string };

export type Context = {
  client: typeof Client;
  /** The store, with a key of its own. */
  store: Client.AnimalStore;
  /** A client of the rude server; see rude-server.ts for what it does under each name. */
  rude(name: string, options?: Partial<Client.StoreOptions>): Client.AnimalStore;
};

const MAX = 2n ** 63n - 1n;
const REX = { name: 'Rex 🐈', categoryId: -MAX, status: 'available' } as const;

export const suite: Record<string, (context: Context) => Promise<void>> = {
  'every operation keeps every digit': async ({ store }) => {
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
  },
  'an error of the store has its code and request id': async (context) => {
    const { code, status, requestId } = await failureOf(context, context.store.getPet(-1n));
    expectEqual([code, status, requestId?.length], ['pet_not_found', 404, 36]);
  },
  'a hung attempt is repeated': async ({ rude }) => {
    const store = rude('hangs-once', { attemptTimeoutMs: 1000 });
    expectEqual((await store.getHealth().withMetadata()).metadata.attempts >= 2, true);
  },
  'a lost connection is repeated, also if a custom fetch passes it on': async ({ rude }) => {
    for (const fetch of [undefined, custom]) {
      const call = rude('breaks-once', { fetch }).getHealth();
      expectEqual((await call.withMetadata()).metadata.attempts, 2);
    }
  },
  'a custom fetch may pass on that a connection failed': async (context) => {
    const options = { fetch: custom, baseUrl: 'http://127.0.0.1:9' };
    for (const store of [context.rude('resets', { fetch: custom }), context.rude('', options)]) {
      const { code, cause, outcomeUnknown } = await failureOf(context, store.updatePet(1n, {}));
      expectEqual([code, cause instanceof Error, outcomeUnknown], ['network_error', true, true]);
    }
  },
  'a redirect is not followed': async (context) => {
    const failure = await failureOf(context, context.rude('redirects').createPet(REX));
    const { code, status = -1, outcomeUnknown } = failure;
    // A browser hides the status.
    const isRedirect = [0, 307].includes(status);
    expectEqual([code, isRedirect, outcomeUnknown], ['invalid_response', true, true]);
  },
  'an endless response is an invalid_response': async (context) => {
    const { code, message } = await failureOf(context, context.rude('is-endless').getHealth());
    expectEqual([code, message], ['invalid_response', 'The response is larger than 16 MiB.']);
  },
  'an abort ends a call that waits for a response': async (context) => {
    const controller = new AbortController();
    const call = context.rude('hangs').createPet(REX, { signal: controller.signal });
    controller.abort('enough');
    const { code, cause, outcomeUnknown } = await failureOf(context, call);
    expectEqual([code, cause, outcomeUnknown], ['aborted', 'enough', true]);
  },
};

/** The suite in this runtime: the error of each test case that fails. */
export async function runSuite(client: typeof Client, addresses: Addresses): Promise<string[]> {
  const { store: baseUrl, rude, apiKey } = addresses;
  const connect = (options: Partial<Client.StoreOptions>) =>
    client.createAnimalStore({ baseUrl, apiKey, ...options });
  const context: Context = {
    client,
    store: connect({}),
    // A number, so that no two test cases share what happens once.
    rude: (name, options) => connect({ baseUrl: `${rude}/${name}/${Math.random()}`, ...options }),
  };
  const failures: string[] = [];
  for (const [name, behaviour] of Object.entries(suite))
    await behaviour(context).catch((error) => failures.push(`${name}: ${error.stack}`));
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

async function failureOf({ client }: Context, call: Promise<unknown>): Promise<Client.StoreError> {
  const outcome = await call.catch((error: unknown) => error);
  if (outcome instanceof client.StoreError) return outcome;
  throw new Error(`expected a StoreError, but got ${outcome}`);
}
