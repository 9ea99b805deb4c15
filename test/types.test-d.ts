/**
 * Mistakes in a route or a query that must not compile. `npm run typecheck` compiles this file, and nothing runs it.
 */
import { Hono } from 'hono';
import type { AppEnv } from '../src/context.ts';
import { sql } from '../src/d1/sql.ts';
import { insertInto, type Table } from '../src/d1/table.ts';
import type { OperationDefinition } from '../src/definition.ts';
import { sendPage } from '../src/http/paging.ts';
import { sendCreated } from '../src/http/responses.ts';
import { runQueries } from '../src/http/run-queries.ts';
import { createOnce } from '../src/idempotency/create-once.ts';
import { operation } from '../src/operation.ts';
import * as queries from '../src/pets/queries.ts';
import { NewPet, PetPath, PetQuery } from '../src/pets/schemas.ts';

const app = new Hono<AppEnv>();

const list = operation({ operationId: 'listPets', scope: 'read', query: PetQuery });
app.get('/', list, async (c) => {
  const { limit, after, status } = c.req.valid('query');
  const { page } = await runQueries(c, queries.listPets({ limit, after, status }));
  // @ts-expect-error: the operation has no body
  c.req.valid('json');
  // @ts-expect-error: a page is not a row of another statement
  sendPage(c, { id: '1' }, { limit });
  return sendPage(c, page, { limit });
});

app.get('/:petId', operation({ operationId: 'getPet', scope: 'read', param: PetPath }), (c) => {
  const { petId } = c.req.valid('param');
  petId satisfies bigint;
  c.get('client').id satisfies string;
  // @ts-expect-error: the operation has no query
  return c.json(c.req.valid('query'));
});

const create = operation({
  operationId: 'createPet',
  scope: 'write',
  json: NewPet,
  acceptsIdempotencyKey: true,
  effect: 'the animal was added',
  retryAdvice: 'Check before you retry.',
});
app.post('/', create, async (c) => {
  const newPet = c.req.valid('json');
  const { created } = await createOnce(c, queries.createPet, newPet);
  // @ts-expect-error: no row may have been created
  return sendCreated(c, created);
});

app.get('/health', operation({ operationId: 'getHealth', public: true }), async (c) => {
  // @ts-expect-error: without a rate limit, an operation must not reach D1
  await runQueries(c, queries.getPet(7n));
  // @ts-expect-error: without a key, there is no client
  return c.text(c.get('client').id);
});

app.post('/other', create, async (c) => {
  const newPet = c.req.valid('json');
  const update = sql`UPDATE pets SET status = 'pending'`;
  const read = sql<{ status: string }>`SELECT status FROM pets WHERE id = 7`;
  // @ts-expect-error: there is no row to insert
  await createOnce(c, () => ({ reserve: { update, where: sql`id = 7`, read } }), newPet);
  // @ts-expect-error: an UPDATE is not a row to insert
  await createOnce(c, () => update, newPet);
  const tagOf = ({ text }: { text: string }) => insertInto(TAGS, { text });
  // @ts-expect-error: the query takes the body of another operation
  await createOnce(c, tagOf, newPet);
  const reserve = { update, where: sql`id = 7`, read };
  const result = await createOnce(c, () => insertInto(TAGS, { text: 'x' }, { reserve }), newPet);
  result.read?.status satisfies string | undefined;
  // @ts-expect-error: the read has no such column
  result.read?.name;
  return c.body(null);
});

const TAGS = {
  name: sql`tags`,
  columns: ['text'],
  json: sql`json_object('id', id)`,
} as const satisfies Table<unknown>;
const WHERE = { where: sql`id = 7`, read: sql`SELECT 1` };

// @ts-expect-error: a column has no value
insertInto(TAGS, {});
// @ts-expect-error: the table has no such column
insertInto(TAGS, { text: 'x', weight: 1n });
// @ts-expect-error: an integer is a bigint, because D1 rounds numbers
insertInto(TAGS, { text: 1 });
// @ts-expect-error: a value is not SQL, which could find several rows
insertInto(TAGS, { text: sql`name FROM pets` });
// @ts-expect-error: the reservation has no WHERE
insertInto(TAGS, { text: 'x' }, { reserve: { update: sql`UPDATE …`, read: sql`SELECT 1` } });
// @ts-expect-error: the reservation is plain text
insertInto(TAGS, { text: 'x' }, { reserve: { ...WHERE, update: 'UPDATE …' } });
// @ts-expect-error: a reservation shows why it failed
insertInto(TAGS, { text: 'x' }, { reserve: { update: sql`UPDATE …`, where: sql`TRUE` } });
// @ts-expect-error: no statement of `createOnce` can be replaced: a read has no name
insertInto(TAGS, { text: 'x' }, { reads: { created: sql`SELECT 1` } });
insertInto(
  TAGS,
  { text: 'x' },
  // @ts-expect-error: the statement `counted` would not be executed
  { reserve: { ...WHERE, update: sql`UPDATE …`, counted: sql`UPDATE …` } },
);

// @ts-expect-error: the query would not be validated
operation({ operationId: 'x', scope: 'read', querry: PetQuery });

// @ts-expect-error: a read has no effect that could be unknown
({ operationId: 'x', scope: 'read', effect: 'x', retryAdvice: 'x' }) satisfies OperationDefinition;
// @ts-expect-error: the 503 of a write says whether a retry is safe
({ operationId: 'x', scope: 'write', effect: 'x' }) satisfies OperationDefinition;
// @ts-expect-error: a read cannot be a create
({ operationId: 'x', scope: 'read', acceptsIdempotencyKey: true }) satisfies OperationDefinition;
// @ts-expect-error: an operation has a scope, or is public
({ operationId: 'x' }) satisfies OperationDefinition;
// @ts-expect-error: not both
({ operationId: 'x', public: true, scope: 'read' }) satisfies OperationDefinition;
// @ts-expect-error: a public operation has no body
({ operationId: 'x', public: true, json: NewPet }) satisfies OperationDefinition;
// @ts-expect-error: and no idempotency key
({ operationId: 'x', public: true, acceptsIdempotencyKey: true }) satisfies OperationDefinition;

declare const loose: OperationDefinition;
app.delete('/', operation(loose), (c) => {
  // @ts-expect-error: it is not known that the operation has a body
  const { name } = c.req.valid('json');
  // @ts-expect-error: or that it has a client
  return c.text(name + c.get('client').id);
});
