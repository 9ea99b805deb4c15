/**
 * The operations of plain-hono.ts with @hono/zod-openapi, zod and Drizzle. Errors are not
 * described.
 */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi';
import { and, asc, eq, gt } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import {
  type AppEnv,
  fail,
  linkNextPage,
  ofEveryRequest,
  ofVersion1,
  rejectInvalid,
  respondToError,
  toPet,
} from './plain-shared.ts';

const STATUSES = ['available', 'pending', 'sold'] as const;
const pets = sqliteTable('pets', {
  id: integer().primaryKey({ autoIncrement: true }),
  name: text().notNull(),
  categoryId: integer('category_id').notNull(),
  status: text({ enum: STATUSES }),
});

const NewPet = z
  .strictObject({
    name: z.string().min(1).max(255),
    categoryId: z.int(),
    status: z.enum(STATUSES).optional(),
  })
  .openapi('NewPet');
const Pet = NewPet.extend({ id: z.int() }).openapi('Pet');
const json = <Schema extends z.ZodType>(schema: Schema, description: string) => ({
  content: { 'application/json': { schema } },
  description,
});

const listPets = createRoute({
  method: 'get',
  path: '/v1/pets',
  request: {
    query: z.strictObject({
      limit: z.coerce.number().int().min(1).max(100).default(20),
      status: z.enum(STATUSES).optional(),
      after: z.coerce.number().int().default(0),
    }),
  },
  responses: { 200: json(z.array(Pet), 'The animals') },
});
const createPet = createRoute({
  method: 'post',
  path: '/v1/pets',
  request: { body: { content: { 'application/json': { schema: NewPet } }, required: true } },
  responses: { 201: json(Pet, 'The animal') },
});
const getPet = createRoute({
  method: 'get',
  path: '/v1/pets/{petId}',
  request: { params: z.object({ petId: z.coerce.number().int() }) },
  responses: { 200: json(Pet, 'The animal'), 404: { description: 'Not found' } },
});

const app = new OpenAPIHono<AppEnv>({ defaultHook: rejectInvalid });
app.use(...ofEveryRequest);
app.use('/v1/*', ...ofVersion1);

app.openapi(listPets, async (c) => {
  const { limit, status, after } = c.req.valid('query');
  const rows = await drizzle(c.env.DB)
    .select()
    .from(pets)
    .where(and(gt(pets.id, after), status && eq(pets.status, status)))
    .orderBy(asc(pets.id))
    .limit(limit + 1);
  linkNextPage(c, rows, limit);
  return c.json(rows.slice(0, limit).map(toPet), 200);
});

app.openapi(createPet, async (c) => {
  const row = await drizzle(c.env.DB).insert(pets).values(c.req.valid('json')).returning().get();
  return c.json(toPet(row), 201, { Location: `${c.req.url}/${row.id}` });
});

app.openapi(getPet, async (c) => {
  const { petId } = c.req.valid('param');
  const row = await drizzle(c.env.DB).select().from(pets).where(eq(pets.id, petId)).get();
  if (!row) throw fail(404, 'pet_not_found', 'Animal not found.');
  return c.json(toPet(row), 200);
});

app.doc31('/openapi.json', { openapi: '3.1.0', info: { title: 'Animals', version: '1.0.0' } });
app.onError(respondToError);

export default app;
