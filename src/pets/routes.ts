/** The operations on pets. */
import { zValidator } from '@hono/zod-validator';
import { Hono } from 'hono';
import type { AppEnv } from '../context.ts';
import { idempotencyKeyOf, replay } from '../d1/idempotency.ts';
import { run } from '../d1/run.ts';
import { readBody } from '../http/body.ts';
import { deprecated } from '../http/deprecation.ts';
import { sendPage } from '../http/paging.ts';
import { sendBody, sendCreated } from '../http/responses.ts';
import { rejectInvalid } from '../http/validate.ts';
import { operation } from '../operation.ts';
import { petHasOpenOrder, petNotFound } from './errors.ts';
import * as queries from './queries.ts';
import { createPet, deletePet, getPet, listPets, updatePet } from './schema.ts';

export const pets = new Hono<AppEnv>();

pets.get(
  '/pets',
  operation(listPets),
  zValidator('query', listPets.query, rejectInvalid),
  async (c) => {
    const parameters = c.req.valid('query');
    const { page } = await run(c, queries.listPets(parameters));
    return sendPage(c, parameters, page);
  },
);

pets.post(
  '/pets',
  operation(createPet),
  readBody,
  zValidator('json', createPet.json, rejectInvalid),
  async (c) => {
    const newPet = c.req.valid('json');
    const idempotencyKey = await idempotencyKeyOf(c, newPet);
    const { created, firstResponse } = await run(c, queries.createPet(newPet, idempotencyKey));
    const pet = created ?? replay(c, idempotencyKey, firstResponse);
    if (!pet) throw new Error('the insert returned no row');
    return sendCreated(c, pet);
  },
);

pets.get(
  '/pets/:petId',
  // Before `operation`, so that errors have its headers too.
  deprecated,
  operation(getPet),
  zValidator('param', getPet.param, rejectInvalid),
  async (c) => {
    const { petId } = c.req.valid('param');
    const { pet } = await run(c, queries.getPet(petId));
    if (!pet) throw petNotFound(petId);
    return sendBody(c, pet.body);
  },
);

pets.patch(
  '/pets/:petId',
  operation(updatePet),
  zValidator('param', updatePet.param, rejectInvalid),
  readBody,
  zValidator('json', updatePet.json, rejectInvalid),
  async (c) => {
    const { petId } = c.req.valid('param');
    const patch = c.req.valid('json');
    const { changed, pet } = await run(c, queries.changePet(petId, patch));
    if (changed) return sendBody(c, changed.body);
    throw pet ? petHasOpenOrder(petId) : petNotFound(petId);
  },
);

pets.delete(
  '/pets/:petId',
  operation(deletePet),
  zValidator('param', deletePet.param, rejectInvalid),
  async (c) => {
    const { petId } = c.req.valid('param');
    const { deleted, pet } = await run(c, queries.deletePet(petId));
    if (deleted) return c.body(null, 204);
    throw pet ? petHasOpenOrder(petId) : petNotFound(petId);
  },
);
