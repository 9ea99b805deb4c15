/**
 * The three operations of the specification (list, add, fetch) without the measures against faults,
 * as the documentation of Hono, zod and Cloudflare shows them. docs/decisions.md compares the store
 * with it.
 */
import { zValidator } from '@hono/zod-validator';
import { Hono } from 'hono';
import * as z from 'zod/mini';
import {
  type AppEnv,
  fail,
  linkNextPage,
  ofEveryRequest,
  ofVersion1,
  type PetRow,
  rejectInvalid,
  respondToError,
  toPet,
} from './plain-shared.ts';

const PetStatus = z.enum(['available', 'pending', 'sold']);
const NewPet = z.strictObject({
  name: z.string().check(z.minLength(1), z.maxLength(255)),
  categoryId: z.int(),
  status: z.optional(PetStatus),
});
const PetQuery = z.strictObject({
  limit: z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(100)), 20),
  status: z.optional(PetStatus),
  after: z._default(z.coerce.number().check(z.int()), 0),
});
const PetPath = z.object({ petId: z.coerce.number().check(z.int()) });

const COLUMNS = 'id, name, category_id AS categoryId, status';

const app = new Hono<AppEnv>()
  .use(...ofEveryRequest)
  .use('/v1/*', ...ofVersion1)
  .get('/v1/pets', zValidator('query', PetQuery, rejectInvalid), async (c) => {
    const { limit, status = null, after } = c.req.valid('query');
    const { results } = await c.env.DB.prepare(
      `SELECT ${COLUMNS} FROM pets
        WHERE id > ?1 AND (?2 IS NULL OR status = ?2) ORDER BY id LIMIT ?3`,
    )
      .bind(after, status, limit + 1)
      .all<PetRow>();
    linkNextPage(c, results, limit);
    return c.json(results.slice(0, limit).map(toPet));
  })
  .post('/v1/pets', zValidator('json', NewPet, rejectInvalid), async (c) => {
    const { name, categoryId, status = null } = c.req.valid('json');
    const { results } = await c.env.DB.prepare(
      `INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?) RETURNING ${COLUMNS}`,
    )
      .bind(name, categoryId, status)
      .all<PetRow>();
    const [pet] = results.map(toPet);
    return c.json(pet, 201, { Location: `${c.req.url}/${pet?.id}` });
  })
  .get('/v1/pets/:petId', zValidator('param', PetPath, rejectInvalid), async (c) => {
    const { results } = await c.env.DB.prepare(`SELECT ${COLUMNS} FROM pets WHERE id = ?`)
      .bind(c.req.valid('param').petId)
      .all<PetRow>();
    const [pet] = results.map(toPet);
    if (!pet) throw fail(404, 'pet_not_found', 'Animal not found.');
    return c.json(pet);
  })
  .onError(respondToError);

export default app;
