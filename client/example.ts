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
 * when a GET, or a create with an Idempotency-Key, got no answer or a 5xx. Pauses grow, and are never shorter than `Retry-After`.
 */
async function fetchWithRetries(request: Request): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const isRepeatable = request.method === 'GET' || request.headers.has('Idempotency-Key');
    let pause = 2 ** attempt * 100 * (0.5 + Math.random() / 2);
    try {
      const response = await fetch(request.clone());
      const isWorthwhile = response.status === 429 || (isRepeatable && response.status >= 500);
      if (!isWorthwhile || attempt === MAX_ATTEMPTS) return response;
      await response.body?.cancel();
      pause = Math.max(pause, secondsOf(response.headers.get('Retry-After')) * 1000);
    } catch (error) {
      if (!isRepeatable || attempt === MAX_ATTEMPTS) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Seconds that a `Retry-After` asks for: it may be a number or a date (RFC 9110, 10.2.3). */
function secondsOf(retryAfter: string | null): number {
  const seconds = Number(retryAfter ?? 0);
  if (!Number.isNaN(seconds)) return seconds;
  return Math.max(0, (Date.parse(retryAfter ?? '') - Date.now()) / 1000) || 0;
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
    if (!data) throw new Error(`${response.status} ${error?.code}: ${error?.message}`);
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

  // With an Idempotency-Key the create may be sent again, like a GET: it is done once.
  const { data: rex, error } = await store.POST('/pets', {
    params: { header: { 'Idempotency-Key': crypto.randomUUID() } },
    body: { name: 'Rex', categoryId: 3, status: 'available' },
  });
  if (!rex) throw new Error(`${error?.code}: ${error?.message}`);
  console.log(`added ${rex.name}, whose id is ${rex.id}`);

  for await (const pet of allPets(store, 'available')) console.log(`${pet.id}\t${pet.name}`);
}
