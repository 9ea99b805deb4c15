/** The operations on pets. */
import { Hono } from 'hono';
import type { AppEnv } from '../context.ts';
import { sendPage } from '../http/paging.ts';
import { sendCreated, sendJson } from '../http/responses.ts';
import { runQueries } from '../http/run-queries.ts';
import { createOnce } from '../idempotency/create-once.ts';
import { operation } from '../operation.ts';
import { petHasOpenOrder, petNotFound } from './errors.ts';
import { createPet, deletePet, getPet, listPets, updatePet } from './operations.ts';
import * as queries from './queries.ts';

export const pets = new Hono<AppEnv>();

pets.get('/pets', operation(listPets), async (c) => {
  const query = c.req.valid('query');
  const { page } = await runQueries(c, queries.listPets(query));
  return sendPage(c, page, query);
});

pets.post('/pets', operation(createPet), async (c) => {
  const { created } = await createOnce(c, queries.createPet, c.req.valid('json'));
  // This cannot happen: a first request inserts a pet, and a retry gets the response that was stored with it.
  if (!created) throw new Error('the insert returned no row');
  return sendCreated(c, created);
});

pets.get('/pets/:petId', operation(getPet), async (c) => {
  const { petId } = c.req.valid('param');
  const { pet } = await runQueries(c, queries.getPet(petId));
  if (!pet) throw petNotFound(petId);
  return sendJson(c, pet.json);
});

pets.patch('/pets/:petId', operation(updatePet), async (c) => {
  const { petId } = c.req.valid('param');
  const { updated, exists } = await runQueries(c, queries.updatePet(petId, c.req.valid('json')));
  if (updated) return sendJson(c, updated.json);
  // Only an open order prevents a change of a pet that exists.
  throw exists ? petHasOpenOrder(petId) : petNotFound(petId);
});

pets.delete('/pets/:petId', operation(deletePet), async (c) => {
  const { petId } = c.req.valid('param');
  const { deleted, exists } = await runQueries(c, queries.deletePet(petId));
  if (deleted) return c.body(null, 204);
  throw exists ? petHasOpenOrder(petId) : petNotFound(petId);
});
