/** The operations on pets. */
import { zValidator } from '@hono/zod-validator';
import { Hono } from 'hono';
import * as z from 'zod/mini';
import { runQuery } from '../d1/database.ts';
import { createOncePerKey } from '../d1/idempotency/create.ts';
import type { AppEnv } from '../env.ts';
import { operation } from '../http/operation.ts';
import { sendPage } from '../http/paging.ts';
import { sendCreated, sendJson } from '../http/responses.ts';
import { rejectInvalid } from '../http/validate.ts';
import { deprecated } from '../middleware/deprecation.ts';
import { petHasOpenOrder, petNotFound } from './errors.ts';
import * as queries from './queries.ts';
import { createPet, deletePet, getPet, listPets, petPages, updatePet } from './schema.ts';

export const pets = new Hono<AppEnv>();

pets.get(
  '/pets',
  operation(listPets),
  zValidator('query', z.lazy(listPets.query), rejectInvalid),
  async (c) => {
    const query = c.req.valid('query');
    const page = await runQuery(c, (db) => queries.selectPets(db, query));
    return sendPage(c, petPages, query, page);
  },
);

pets.post(
  '/pets',
  operation(createPet),
  zValidator('json', z.lazy(createPet.json), rejectInvalid),
  async (c) => {
    const newPet = c.req.valid('json');
    const pet = await createOncePerKey(c, {
      body: newPet,
      insert: (db) => queries.insertPet(db, newPet),
      insertOnce: (db, request) => queries.insertPetOnce(db, newPet, request),
    });
    if (!pet) throw new Error('the insert returned no row');
    return sendCreated(c, pet);
  },
);

pets.get(
  '/pets/:petId',
  // Before `operation`, so that errors have its headers too.
  deprecated,
  operation(getPet),
  zValidator('param', z.lazy(getPet.param), rejectInvalid),
  async (c) => {
    const { petId } = c.req.valid('param');
    const pet = await runQuery(c, (db) => queries.selectPet(db, petId));
    if (!pet) throw petNotFound(petId);
    return sendJson(c, pet.json);
  },
);

pets.patch(
  '/pets/:petId',
  operation(updatePet),
  zValidator('param', z.lazy(updatePet.param), rejectInvalid),
  zValidator('json', z.lazy(updatePet.json), rejectInvalid),
  async (c) => {
    const { petId } = c.req.valid('param');
    const patch = c.req.valid('json');
    const change = await runQuery(c, (db, attempt) => queries.changePet(db, petId, patch, attempt));
    if (change && change.response !== null) return sendJson(c, change.response);
    throw change?.pet_exists ? petHasOpenOrder(petId) : petNotFound(petId);
  },
);

pets.delete(
  '/pets/:petId',
  operation(deletePet),
  zValidator('param', z.lazy(deletePet.param), rejectInvalid),
  async (c) => {
    const { petId } = c.req.valid('param');
    const change = await runQuery(c, (db, attempt) => queries.removePet(db, petId, attempt));
    if (change && change.response !== null) return c.body(null, 204);
    throw change?.pet_exists ? petHasOpenOrder(petId) : petNotFound(petId);
  },
);
