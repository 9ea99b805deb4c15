/** The operations on pets. */
import { Hono } from 'hono';
import type { AppEnv } from '../context.ts';
import { PATCH_TYPES } from '../http/body.ts';
import { sendPage } from '../http/paging.ts';
import { sendCreated, sendJson } from '../http/responses.ts';
import { runQueries } from '../http/run-queries.ts';
import { CREATE_ADVICE } from '../http/unavailable.ts';
import { createOnce } from '../idempotency/create-once.ts';
import { operation } from '../operation.ts';
import { petHasOpenOrder, petNotFound } from './errors.ts';
import * as queries from './queries.ts';
import { NewPet, PetPatch, PetPath, PetQuery } from './schemas.ts';

export const pets = new Hono<AppEnv>()
  .get(
    '/pets',
    operation({ operationId: 'listPets', scope: 'read', query: PetQuery }),
    async (c) => {
      const query = c.req.valid('query');
      const { page } = await runQueries(c, queries.listPets(query));
      return sendPage(c, page, query);
    },
  )
  .post(
    '/pets',
    operation({
      operationId: 'createPet',
      scope: 'write',
      json: NewPet,
      acceptsIdempotencyKey: true,
      // Both are parts of the 503 for an unknown outcome: "It is unknown whether the animal was added. …"
      effect: 'the animal was added',
      retryAdvice: CREATE_ADVICE,
    }),
    async (c) => {
      const { created } = await createOnce(c, queries.createPet, c.req.valid('json'));
      // This cannot happen: a first request inserts a pet, and a retry gets the response that was stored with it.
      if (!created) throw new Error('the insert returned no row');
      return sendCreated(c, created);
    },
  )
  .get(
    '/pets/:petId',
    operation({
      operationId: 'getPet',
      scope: 'read',
      param: PetPath,
      // The specification deprecates this operation, and `listPets` succeeds it: docs/decisions.md.
      deprecation: {
        // 20 November 2026, the release of version 1.0.0.
        since: '@1795132800',
        sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
        successor: '/pets',
      },
    }),
    async (c) => {
      const { petId } = c.req.valid('param');
      const { pet } = await runQueries(c, queries.getPet(petId));
      if (!pet) throw petNotFound(petId);
      return sendJson(c, pet.json);
    },
  )
  .patch(
    '/pets/:petId',
    operation({
      operationId: 'updatePet',
      scope: 'write',
      param: PetPath,
      json: PetPatch,
      mediaTypes: PATCH_TYPES,
      effect: 'the animal was changed',
      retryAdvice:
        'Check before you retry: the same change could overwrite a later one of another client.',
    }),
    async (c) => {
      const { petId } = c.req.valid('param');
      const patch = c.req.valid('json');
      const { updated, exists } = await runQueries(c, queries.updatePet(petId, patch));
      if (updated) return sendJson(c, updated.json);
      // Only an open order prevents a change of a pet that exists.
      throw exists ? petHasOpenOrder(petId) : petNotFound(petId);
    },
  )
  .delete(
    '/pets/:petId',
    operation({
      operationId: 'deletePet',
      scope: 'write',
      param: PetPath,
      effect: 'the animal was deleted',
      retryAdvice: 'A retry is safe: 404 means that the animal is deleted.',
    }),
    async (c) => {
      const { petId } = c.req.valid('param');
      const { deleted, exists } = await runQueries(c, queries.deletePet(petId));
      if (deleted) return c.body(null, 204);
      throw exists ? petHasOpenOrder(petId) : petNotFound(petId);
    },
  );
