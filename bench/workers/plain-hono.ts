/**
 * The three operations that the specification gives (list, add, fetch), and an order, in the usual form: Hono and its middleware, zValidator, D1's
 * `prepare`, API keys in KV. docs/decisions.md compares the store with it.
 */
import { zValidator } from '@hono/zod-validator';
import { type Context, Hono } from 'hono';
import { bearerAuth } from 'hono/bearer-auth';
import { bodyLimit } from 'hono/body-limit';
import { cors } from 'hono/cors';
import { HTTPException } from 'hono/http-exception';
import * as z from 'zod';

type AppEnv = { Bindings: Env; Variables: { keyId: string } };

const PetStatus = z.enum(['available', 'pending', 'sold']);
const NewPet = z.strictObject({
  name: z.string().min(1).max(255),
  categoryId: z.int(),
  status: PetStatus.optional(),
});
const NewOrder = z.strictObject({ petId: z.int() });
const PetQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  status: PetStatus.optional(),
  after: z.coerce.number().int().default(0),
});
const PetPath = z.object({ petId: z.coerce.number().int() });

type PetRow = { id: number; name: string; categoryId: number; status: string | null };
const COLUMNS = 'id, name, category_id AS categoryId, status';
const toPet = ({ status, ...pet }: PetRow) => (status === null ? pet : { ...pet, status });

const errorBody = (status: number, code: string, message: string) => ({ code, message, status });
const unauthorized = { message: errorBody(401, 'invalid_api_key', 'Send a valid API key.') };

const validate = <Target extends 'json' | 'query' | 'param', Schema extends z.ZodType>(
  target: Target,
  schema: Schema,
) =>
  zValidator(target, schema, (result, c) => {
    if (result.success) return undefined;
    return c.json(errorBody(400, 'invalid_request', z.prettifyError(result.error)), 400);
  });

async function verifyToken(token: string, c: Context<AppEnv>): Promise<boolean> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token));
  const name = `key:${new Uint8Array(hash).toHex()}`;
  const record = await c.env.API_KEYS.get<{ id: string }>(name, { type: 'json', cacheTtl: 60 });
  if (record) c.set('keyId', record.id);
  return record !== null;
}

export const plainHono = new Hono<AppEnv>();

plainHono.use(cors());
plainHono.use(
  '/v1/*',
  bearerAuth<AppEnv>({
    verifyToken,
    noAuthenticationHeader: unauthorized,
    invalidToken: unauthorized,
  }),
  bodyLimit({ maxSize: 16_384 }),
);

// Records a successful response, and sends it again to a retry. As in published idempotency middleware, the record and the row are
// not written in one transaction, because the middleware does not know the handler's statements.
plainHono.use('/v1/*', async (c, next) => {
  const idempotencyKey = c.req.header('Idempotency-Key');
  if (!idempotencyKey) return next();
  const name = `${c.get('keyId')}:${c.req.method}:${c.req.path}:${idempotencyKey}`;
  const recorded = await c.env.API_KEYS.get(name);
  if (recorded) return c.body(recorded, 201, { 'Content-Type': 'application/json' });
  await next();
  const response = c.res.clone();
  if (response.ok) await c.env.API_KEYS.put(name, await response.text(), { expirationTtl: 86_400 });
  return undefined;
});

plainHono.get('/v1/pets', validate('query', PetQuery), async (c) => {
  const { limit, status = null, after } = c.req.valid('query');
  const { results } = await c.env.DB.prepare(
    `SELECT ${COLUMNS} FROM pets
      WHERE id > ?1 AND (?2 IS NULL OR status = ?2) ORDER BY id LIMIT ?3`,
  )
    .bind(after, status, limit + 1)
    .all<PetRow>();
  const last = results[limit - 1];
  if (last && results.length > limit) {
    const next = new URL(c.req.url);
    next.searchParams.set('after', `${last.id}`);
    c.header('Link', `<${next}>; rel="next"`);
  }
  return c.json(results.slice(0, limit).map(toPet));
});

plainHono.post('/v1/pets', validate('json', NewPet), async (c) => {
  const { name, categoryId, status = null } = c.req.valid('json');
  const { results } = await c.env.DB.prepare(
    `INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?) RETURNING ${COLUMNS}`,
  )
    .bind(name, categoryId, status)
    .all<PetRow>();
  const [pet] = results.map(toPet);
  return c.json(pet, 201, { Location: `${c.req.url}/${pet?.id}` });
});

plainHono.get('/v1/pets/:petId', validate('param', PetPath), async (c) => {
  const { results } = await c.env.DB.prepare(`SELECT ${COLUMNS} FROM pets WHERE id = ?`)
    .bind(c.req.valid('param').petId)
    .all<PetRow>();
  const [pet] = results.map(toPet);
  return pet ? c.json(pet) : c.json(errorBody(404, 'pet_not_found', 'Animal not found.'), 404);
});

plainHono.post('/v1/store/orders', validate('json', NewOrder), async (c) => {
  const { petId } = c.req.valid('json');
  // One statement reads the status and changes it, so that one client alone finds the animal available.
  const { meta } = await c.env.DB.prepare(
    `UPDATE pets SET status = 'pending' WHERE id = ? AND status = 'available'`,
  )
    .bind(petId)
    .run();
  if (meta.changes === 0)
    return c.json(errorBody(409, 'pet_not_available', 'The animal is not available.'), 409);
  await c.env.DB.prepare('INSERT INTO orders (pet_id) VALUES (?)').bind(petId).run();
  return c.json({ petId, status: 'placed' }, 201);
});

plainHono.notFound((c) => c.json(errorBody(404, 'not_found', 'Path not found.'), 404));
plainHono.onError((error, c) => {
  if (error instanceof HTTPException) return error.getResponse();
  console.error(error);
  return c.json(errorBody(500, 'internal_error', 'Internal server error.'), 500);
});

export default plainHono;
