/** The operations on pets. */
import { READ, REPEATABLE_WRITE, runQuery } from '../database.ts';
import { sendPage } from '../http/paging.ts';
import { created, respond } from '../http/responses.ts';
import { create } from '../idempotency/create.ts';
import { writeRecord } from '../idempotency/header.ts';
import { operation } from '../middleware/operation.ts';
import { createRouter } from '../router.ts';
import { deprecated } from './deprecation.ts';
import { petHasOpenOrder, petNotFound } from './errors.ts';
import * as queries from './queries.ts';
import { createPet, deletePet, getPet, listPets, petList, updatePet } from './schema.ts';

export const pets = createRouter();

pets.get('/pets', operation(listPets), async (c) => {
  const query = c.req.valid('query');
  const page = await runQuery(c, READ, (db) => queries.selectPets(db, query));
  return sendPage(c, petList, query, page);
});

pets.post('/pets', operation(createPet), async (c) => {
  const body = c.req.valid('json');
  const { created: pet } = await create(c, {
    operationId: createPet.operationId,
    body,
    insertion: () => queries.petInsertion(body),
    outcome: 'whether the animal was added',
  });
  if (!pet) throw new Error('the insert returned no row');
  return created(c, pet);
});

pets.get('/pets/:petId', deprecated, operation(getPet), async (c) => {
  const { petId } = c.req.valid('param');
  const { results } = await runQuery(c, READ, (db) => queries.selectPet(db, petId));
  const [pet] = results;
  if (!pet) throw petNotFound(petId);
  return respond(c, 200, pet.json);
});

pets.patch('/pets/:petId', operation(updatePet), async (c) => {
  const { petId } = c.req.valid('param');
  const patch = c.req.valid('json');
  const record = writeRecord(c, updatePet.operationId);
  const results = await runQuery(c, REPEATABLE_WRITE, (db) =>
    queries.updatePet(db, petId, patch, record),
  );
  const pet = results.at(-1)?.results[0];
  if (!pet) throw petNotFound(petId);
  if (!pet.is_recorded) throw petHasOpenOrder(petId);
  return respond(c, 200, pet.json);
});

pets.delete('/pets/:petId', operation(deletePet), async (c) => {
  const { petId } = c.req.valid('param');
  const record = writeRecord(c, deletePet.operationId);
  const results = await runQuery(c, REPEATABLE_WRITE, (db) => queries.deletePet(db, petId, record));
  const deletion = results.at(-1)?.results[0];
  if (deletion?.is_recorded) return respond(c, 204);
  throw deletion?.is_found ? petHasOpenOrder(petId) : petNotFound(petId);
});
