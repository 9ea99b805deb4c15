/** The operations on animals. */
import { type Context, Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { runQuery } from '../database.ts';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';
import { hashOf, idempotencyKeyOf } from '../idempotency/header.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { consistency } from '../middleware/consistency.ts';
import { jsonBody } from '../middleware/json-body.ts';
import { rateLimit } from '../middleware/rate-limit.ts';
import { limitQuery, validate } from '../middleware/validate.ts';
import { encodeCursor } from './cursor.ts';
import { DEPRECATION, SUNSET } from './deprecation.ts';
import { insertPet, insertPetOnce, type PetRow, selectPet, selectPets } from './queries.ts';
import { GetPetPath, ListPetsQuery, NewPet, NoQuery } from './schema.ts';

export const pets = new Hono<AppEnv>();

const READ = { isRepeatable: true, unavailable: 'The store cannot be reached right now.' };
const CREATE = {
  isRepeatable: false,
  unavailable:
    'The database did not answer. It is unknown whether the animal was added: list the animals before you send it again. (Only an Idempotency-Key on the first request makes a retry safe.)',
};
const CREATE_ONCE = {
  isRepeatable: true,
  unavailable: 'The database did not answer. Send the request again with the same Idempotency-Key.',
};

/** The service assigns ids from 1 up; one that an operator inserted may be any int64. */
const LEAST_ID = -(2n ** 63n);

// listPets
pets.get(
  '/pets',
  authenticate,
  rateLimit,
  consistency,
  limitQuery,
  validate('query', ListPetsQuery),
  async (c) => {
    const { limit, status, cursor } = c.req.valid('query');
    const from = cursor ? cursor.lastId + 1n : LEAST_ID;
    const [page] = await runQuery(c, READ, (db) => selectPets(db, { from, status, limit }));
    if (!page) throw new Error('the list returned no row');
    if (page.more_after !== null) {
      // Nothing in it needs an escape: a number, a name of the enum, and base64url.
      const filter = status ? `&status=${status}` : '';
      const next = encodeCursor({ lastId: BigInt(page.more_after), status });
      // RFC 8288
      c.header('Link', `<${baseUrl(c)}/pets?limit=${limit}${filter}&cursor=${next}>; rel="next"`);
    }
    return json(c, page.pets);
  },
);

// createPet
pets.post(
  '/pets',
  authenticate,
  rateLimit,
  consistency,
  limitQuery,
  validate('query', NoQuery),
  jsonBody(NewPet),
  async (c) => {
    const pet = c.req.valid('json');
    const key = idempotencyKeyOf(c);
    const created = key === undefined ? await create(c, pet) : await createOnce(c, pet, key);
    c.header('Location', `${baseUrl(c)}/pets/${created.pet_id}`);
    return json(c, created.pet, 201);
  },
);

async function create(c: Context<AppEnv>, pet: NewPet): Promise<PetRow> {
  const [created] = await runQuery(c, CREATE, (db) => insertPet(db, pet));
  if (!created) throw new Error('the insert returned no row');
  return created;
}

async function createOnce(c: Context<AppEnv>, pet: NewPet, key: string): Promise<PetRow> {
  const requestId = c.get('requestId');
  const bodyHash = hashOf(pet);
  const record = { keyFamily: c.get('keyFamily'), key, bodyHash, requestId };
  const [first] = await runQuery(c, CREATE_ONCE, (db) => insertPetOnce(db, pet, record));
  if (!first) throw new Error('the batch left no record of the idempotency key');
  if (first.body_hash !== bodyHash) {
    throw new ApiError(
      'idempotency_key_reused',
      'This Idempotency-Key was used for another body within the last 24 hours.',
    );
  }
  if (first.request_id !== requestId) c.header('Idempotency-Replayed', 'true');
  return first;
}

/** Marks every response of a deprecated operation, errors too (RFC 9745, RFC 8594, RFC 5829). */
const deprecated = createMiddleware<AppEnv>(async function deprecated(c, next) {
  c.get('log').deprecated = true;
  c.header('Deprecation', DEPRECATION);
  c.header('Sunset', SUNSET);
  const base = baseUrl(c);
  const docs = new URL('/docs', base).href;
  c.header('Link', `<${base}/pets>; rel="successor-version", <${docs}>; rel="deprecation"`);
  await next();
});

// getPet
pets.get(
  '/pets/:petId',
  deprecated,
  authenticate,
  rateLimit,
  consistency,
  limitQuery,
  validate('param', GetPetPath),
  validate('query', NoQuery),
  async (c) => {
    const { petId } = c.req.valid('param');
    const [found] = await runQuery(c, READ, (db) => selectPet(db, petId));
    if (!found) throw new ApiError('pet_not_found', `There is no animal with the id ${petId}.`);
    return json(c, found.pet);
  },
);

/** The base address, ending in `/v1`: the configured one, or locally the one the client used. */
function baseUrl(c: Context<AppEnv>): string {
  return c.env.BASE_URL ?? new URL('/v1', c.req.url).href;
}

/** Answers with a body that is JSON already: see queries.ts. */
function json(c: Context<AppEnv>, body: string, status: 200 | 201 = 200): Response {
  return c.body(body, status, { 'Content-Type': 'application/json' });
}
