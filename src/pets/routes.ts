/** The operations on pets. */
import { Hono } from 'hono';
import type { AppEnv } from '../context.ts';
import { createOnce } from '../http/create-once.ts';
import { deprecatedGetPet } from '../http/deprecation.ts';
import { sendPage } from '../http/paging.ts';
import { sendBody, sendCreated } from '../http/responses.ts';
import { run } from '../http/run.ts';
import { operation } from '../operation.ts';
import { petHasOpenOrder, petNotFound } from './errors.ts';
import * as queries from './queries.ts';
import { createPet, deletePet, getPet, listPets, updatePet } from './schema.ts';

export const pets = new Hono<AppEnv>();

pets.get('/pets', operation(listPets), async (c) => {
  const { page } = await run(c, queries.listPets(c.req.valid('query')));
  return sendPage(c, page);
});

pets.post('/pets', operation(createPet), async (c) => {
  const { created } = await createOnce(c, queries.createPet, c.req.valid('json'));
  // This cannot happen: a new request inserts a pet, and a repeated one gets the first pet.
  if (!created) throw new Error('the insert returned no row');
  return sendCreated(c, created);
});

pets.get('/pets/:petId', deprecatedGetPet, operation(getPet), async (c) => {
  const { petId } = c.req.valid('param');
  const { pet } = await run(c, queries.getPet(petId));
  if (!pet) throw petNotFound(petId);
  return sendBody(c, pet.body);
});

pets.patch('/pets/:petId', operation(updatePet), async (c) => {
  const { petId } = c.req.valid('param');
  const { updated, exists } = await run(c, queries.updatePet(petId, c.req.valid('json')));
  if (updated) return sendBody(c, updated.body);
  // Only an open order prevents a change of a pet that exists.
  throw exists ? petHasOpenOrder(petId) : petNotFound(petId);
});

pets.delete('/pets/:petId', operation(deletePet), async (c) => {
  const { petId } = c.req.valid('param');
  const { deleted, exists } = await run(c, queries.deletePet(petId));
  if (deleted) return c.body(null, 204);
  throw exists ? petHasOpenOrder(petId) : petNotFound(petId);
});
