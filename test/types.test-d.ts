/**
 * Mistakes in a route or a query that must not compile. `npm run check` compiles this file, and
 * nothing runs it.
 */
import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../src/context.ts';
import { sql } from '../src/d1/sql.ts';
import { takePage } from '../src/http/paging.ts';
import { type Create, createOnce } from '../src/idempotency/create-once.ts';
import type { OperationDefinition } from '../src/operation/definition.ts';
import { operation } from '../src/operation/operation.ts';
import { petNotFound } from '../src/pets/errors.ts';
import * as queries from '../src/pets/queries.ts';
import { NewPet, PetPath, PetQuery } from '../src/pets/schemas.ts';

const app = new Hono<AppEnv>();

const list = operation({ operationId: 'listPets', scope: 'read', query: PetQuery });
app.get('/', list, async (c) => {
  // @ts-expect-error: the operation has no body
  c.req.valid('json');
  // @ts-expect-error: the items of a page have ids
  takePage(c, '/pets', async () => [{ status: 'sold' }]);
  return c.json(await takePage(c, '/pets', queries.listPets), 200);
});

app.get('/:petId', operation({ operationId: 'getPet', scope: 'read', param: PetPath }), (c) => {
  c.req.valid('param').petId satisfies bigint;
  // @ts-expect-error: the operation has no query
  takePage(c, '/pets', queries.listPets);
  return c.json(c.get('client').id satisfies string);
});

const create = operation({
  operationId: 'createPet',
  scope: 'write',
  json: NewPet,
  acceptsIdempotencyKey: true,
  effect: 'the animal was added',
});

app.get('/health', operation({ operationId: 'getHealth', public: true }), async (c) => {
  // @ts-expect-error: without a rate limit, an operation must not reach D1
  await queries.getPet(c.get('db'), 7n);
  return c.text('');
});

const tag = { into: 'tags', row: { text: 'x' } };
// @ts-expect-error: the item to respond with is missing
tag satisfies Create<object>;
app.post('/tags', create, async (c) => {
  // @ts-expect-error: the handler of a create passes the idempotency key on
  await queries.createPet(c.get('db'), c.req.valid('json'));
  const refusal = {
    column: 'text',
    read: sql<{ text: string | null }>`SELECT …`,
    error: (row: { text: string } | undefined) => petNotFound(BigInt(row?.text.length ?? 0)),
  };
  // @ts-expect-error: the row that is read may have a NULL
  await createOnce(c.get('db'), c.get('once'), { ...tag, item: {}, refusal });
  // @ts-expect-error: a retry would return the number in the array as a bigint
  await createOnce(c.get('db'), c.get('once'), { ...tag, item: { counts: [2] } });
  return c.body(null);
});

// A middleware with a variable of its own.
const tenant = createMiddleware<{ Variables: { tenant: string } }>((_, next) => next());
app.get('/tenants', tenant, list, async (c) => {
  c.get('tenant') satisfies string;
  return c.json(await takePage(c, '/pets', queries.listPets), 200);
});

app.patch('/', list, async (c) => {
  const [[row]] = await c.get('db').run(sql<{ status: string }>`SELECT …`);
  // @ts-expect-error: there may be no row
  row.status;
  // @ts-expect-error: the operation does not accept an idempotency key
  await createOnce(c.get('db'), c.get('once'), { ...tag, item: {} });
  return c.body(null);
});

// @ts-expect-error: the query would not be validated
operation({ operationId: 'x', scope: 'read', querry: PetQuery });

// @ts-expect-error: a read has no effect that could be unknown
({ operationId: 'x', scope: 'read', effect: 'the x was y' }) satisfies OperationDefinition;
// @ts-expect-error: the text after "It is unknown whether "
({ operationId: 'x', scope: 'write', effect: 'adds it' }) satisfies OperationDefinition;
// @ts-expect-error: the 503 of a write says what is unknown
({ operationId: 'x', scope: 'write' }) satisfies OperationDefinition;
// @ts-expect-error: an operation has a scope, or is public
({ operationId: 'x' }) satisfies OperationDefinition;
// @ts-expect-error: a public operation has no body
({ operationId: 'x', public: true, json: NewPet }) satisfies OperationDefinition;
