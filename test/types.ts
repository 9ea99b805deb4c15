/**
 * Mistakes in a route or a query that must not compile. `npm run typecheck` compiles this file, and nothing runs it.
 */
import { Hono } from 'hono';
import type { AppEnv } from '../src/context.ts';
import type { OperationDefinition } from '../src/definition.ts';
import { sendPage } from '../src/http/paging.ts';
import { sendCreated } from '../src/http/responses.ts';
import { runQueries } from '../src/http/run-queries.ts';
import { createOnce } from '../src/idempotency/create-once.ts';
import { operation } from '../src/operation.ts';
import { createPet, deletePet, getPet, listPets } from '../src/pets/operations.ts';
import { createPet as createPetQuery, listPets as listPetsQuery } from '../src/pets/queries.ts';

const app = new Hono<AppEnv>();

app.get('/', operation(listPets), async (c) => {
  const { limit, after, status } = c.req.valid('query');
  const { page } = await runQueries(c, listPetsQuery({ limit, after, status }));
  // @ts-expect-error: the operation has no body
  c.req.valid('json');
  // @ts-expect-error: a page is not a row of another statement
  sendPage(c, { id: '1' }, { limit });
  return sendPage(c, page, { limit });
});

app.get('/:petId', operation(getPet), async (c) => {
  const { petId } = c.req.valid('param');
  petId satisfies bigint;
  // @ts-expect-error: the operation has no query
  return c.json(c.req.valid('query'));
});

app.post('/', operation(createPet), async (c) => {
  const newPet = c.req.valid('json');
  // @ts-expect-error: the condition comes first
  createPetQuery(newPet);
  const { created } = await createOnce(c, createPetQuery, newPet);
  // @ts-expect-error: no row may have been created
  return sendCreated(c, created);
});

// @ts-expect-error: before `operation`, a request may have no client
app.use(async (c) => c.text(c.get('client').keyId));

// @ts-expect-error: a read has no effect that could be unknown
({ operationId: 'x', scope: 'read', effect: 'x', retryAdvice: 'x' }) satisfies OperationDefinition;
// @ts-expect-error: the 503 of a write says whether a retry is safe
({ operationId: 'x', scope: 'write', effect: 'x' }) satisfies OperationDefinition;

// @ts-expect-error: a read cannot be a create
({ operationId: 'x', scope: 'read', acceptsIdempotencyKey: true }) satisfies OperationDefinition;

const loose: OperationDefinition = deletePet;
app.delete('/', operation(loose), (c) => {
  // @ts-expect-error: it is not known that the operation has a body
  const { name } = c.req.valid('json');
  return c.text(name);
});
