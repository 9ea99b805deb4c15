/**
 * Calling the store from TypeScript, with types made from its description: run it against a local store
 * with `npm run example`.
 */
import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from './schema.d.ts';

type Pet = components['schemas']['Pet'];
type PetStatus = components['schemas']['PetStatus'];

const MAX_ATTEMPTS = 4;

/** A typed client of the store at `baseUrl`, which ends in `/v1`. */
export function createStore(baseUrl: string, apiKey: string) {
  const store = createClient<paths>({ baseUrl, fetch: fetchWithRetries });
  const authorize: Middleware = {
    onRequest({ request }) {
      request.headers.set('Authorization', `Bearer ${apiKey}`);
    },
  };
  store.use(authorize);
  return store;
}

/**
 * Sends a request again where that can help and does no harm: after a 429, which was not carried out, and
 * when a GET got no answer, a 500 or a 503. Pauses grow, and are never shorter than `Retry-After`.
 */
async function fetchWithRetries(request: Request): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const isSafe = request.method === 'GET';
    let pause = 2 ** attempt * 100 * (0.5 + Math.random() / 2);
    try {
      const response = await fetch(request.clone());
      const isWorthwhile = response.status === 429 || (isSafe && response.status >= 500);
      if (!isWorthwhile || attempt === MAX_ATTEMPTS) return response;
      pause = Math.max(pause, Number(response.headers.get('Retry-After') ?? 0) * 1000);
    } catch (error) {
      if (!isSafe || attempt === MAX_ATTEMPTS) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Every animal, page by page; of one status, if it is given. */
export async function* allPets(
  store: ReturnType<typeof createStore>,
  status?: PetStatus,
): AsyncGenerator<Pet> {
  let cursor: string | undefined;
  do {
    const query = { limit: 100, ...(status && { status }), ...(cursor && { cursor }) };
    const { data, error, response } = await store.GET('/pets', { params: { query } });
    if (error) throw new Error(`${error.code}: ${error.message}`);
    yield* data;
    const next = /<([^>]+)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1];
    cursor = next ? (new URL(next).searchParams.get('cursor') ?? undefined) : undefined;
  } while (cursor);
}

if (import.meta.main) {
  // The key that every local store knows.
  const LOCAL_KEY = 'animal_local_ThisKeyOpensOnlyALocalStore0001k8qeP';
  const [baseUrl = 'http://localhost:8787/v1', apiKey = LOCAL_KEY] = process.argv.slice(2);
  const store = createStore(baseUrl, apiKey);

  const { data: rex, error } = await store.POST('/pets', {
    body: { name: 'Rex', categoryId: 3, status: 'available' },
  });
  if (error) throw new Error(`${error.code}: ${error.message}`);
  console.log(`added ${rex.name}, whose id is ${rex.id}`);

  for await (const pet of allPets(store, 'available')) console.log(`${pet.id}\t${pet.name}`);
}
