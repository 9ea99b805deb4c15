/**
 * What can differ between runtimes: the same test cases in each, against the real store and a rude server. They use
 * nothing but the language.
 */
import type * as Client from '../src/index.ts';

export type Addresses = {
  store: string;
  rude: string;
  /** Where no server listens. */
  refusing: string;
  apiKey: string;
};

const REX = { name: 'Rex 🐈', categoryId: 1n - 2n ** 63n, status: 'available' } as const;

/**
 * Runs the test cases in this runtime, and returns the error of each that fails.
 *
 * @param provesUnsent - whether the errors of the runtime's `fetch` prove that nothing was sent: those of Node.js alone do
 */
export async function runSuite(
  client: typeof Client,
  addresses: Addresses,
  provesUnsent: boolean,
): Promise<string[]> {
  const { store: baseUrl, rude, refusing, apiKey } = addresses;
  /** A client of the rude server, with a number, so that each finds what happens once. */
  const rudeStore = (behaviour: string, options: Client.CallOptions = {}) =>
    client.createAnimalStore({
      baseUrl: `${rude}/${behaviour}/${Math.random()}`,
      apiKey,
      ...options,
    });

  const cases: Record<string, () => Promise<void>> = {
    'digits, characters and headers are exact': () => useStore(client, baseUrl, apiKey),
    async 'an attempt without a response is retried'() {
      for (const [behaviour, options] of [
        ['hangs', { attemptTimeoutMs: 1000 }],
        ['breaks', {}],
      ] as const) {
        // The server answers the second request.
        const { status } = await rudeStore(behaviour, options).getHealth();
        expectEqual(status, 'ok');
      }
    },
    async 'a failed connection is a network_error with its cause, and nothing was sent'() {
      for (const address of [refusing, 'https://animal-store.invalid/v1']) {
        const nowhere = client.createAnimalStore({ baseUrl: address, apiKey });
        const error = await failureOf(nowhere.updatePet(1n, {}));
        const { code, cause, outcomeUnknown, attempts } = error;
        expectEqual([code, typeof cause], ['network_error', 'object']);
        expectEqual([outcomeUnknown, attempts], provesUnsent ? [false, 4] : [true, 1]);
      }
    },
    async 'a redirect is not followed'() {
      const { code, status, message } = await failureOf(rudeStore('redirects').createPet(REX));
      // A browser hides the status and the target.
      const isNamed = status === 0 || (status === 307 && message.includes('/target'));
      expectEqual([code, isNamed], ['invalid_response', true]);
    },
    async 'an endless response is an invalid_response'() {
      const { code } = await failureOf(rudeStore('is-endless').getHealth());
      expectEqual(code, 'invalid_response');
    },
  };
  const runs = Object.entries(cases).map(([name, run]) =>
    run().catch((error) => `${name}: ${error.stack}`),
  );
  return (await Promise.all(runs)).filter((failure) => failure !== undefined);
}

/** Digits, characters and headers are exact. @throws Error unless they are. */
export async function useStore(client: typeof Client, baseUrl: string, apiKey: string) {
  const session = client.createAnimalStore({ baseUrl, apiKey }).session();
  await session.createPet(REX);
  const rex = await session.createPet(REX);
  expectEqual(rex, { id: rex.id, ...REX });
  expectEqual(/^[0-9a-f]{8}-/.test(session.bookmark), true);
  // At least two pages.
  const pets = await session.listPets({ limit: 1 }).toArray({ max: 1000 });
  expectEqual(pets.at(-1), rex);
  expectEqual(await session.updatePet(rex.id, { name: 'Max' }), { ...rex, name: 'Max' });
  expectEqual(await session.deletePet(rex.id), undefined);
  const { code, requestId } = await failureOf(session.getPet(rex.id));
  expectEqual([code, requestId?.length], ['pet_not_found', 36]);
}

/** A call's error. */
async function failureOf(call: Promise<unknown>): Promise<Client.StoreError> {
  const result = await call.catch((error) => ({ error }));
  return Object(result).error;
}

/** Compares as JSON does, and bigints exactly. */
function expectEqual(actual: unknown, expected: unknown): void {
  const [shown, wanted] = [actual, expected].map((value) =>
    JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : part)),
  );
  if (shown !== wanted) throw new Error(`expected ${wanted}, but got ${shown}`);
}
