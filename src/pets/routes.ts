import { Hono } from 'hono';
import type { AppEnv } from '../context.ts';
import { PATCH_TYPES } from '../http/body.ts';
import { takePage } from '../http/paging.ts';
import { baseUrl } from '../http/urls.ts';
import { operation } from '../operation/operation.ts';
import * as queries from './queries.ts';
import { NewPet, PetPatch, PetPath, PetQuery } from './schemas.ts';

export const pets = new Hono<AppEnv>()
  .get('/pets', operation({ operationId: 'listPets', scope: 'read', query: PetQuery }), async (c) =>
    c.json(await takePage(c, '/pets', queries.listPets), 200),
  )
  .post(
    '/pets',
    operation({
      operationId: 'createPet',
      scope: 'write',
      json: NewPet,
      acceptsIdempotencyKey: true,
      effect: 'the animal was added',
    }),
    async (c) => {
      const pet = await queries.createPet(c.get('db'), c.get('once'), c.req.valid('json'));
      return c.json(pet, 201, { Location: `${baseUrl(c)}/pets/${pet.id}` });
    },
  )
  .get(
    '/pets/:petId',
    operation({
      operationId: 'getPet',
      scope: 'read',
      param: PetPath,
      errors: ['pet_not_found'],
      // The specification deprecates this operation, and `listPets` succeeds it: docs/decisions.md.
      deprecation: {
        since: '2026-11-20',
        sunset: '2030-12-05',
        successor: '/pets',
      },
    }),
    async (c) => {
      const { petId } = c.req.valid('param');
      return c.json(await queries.getPet(c.get('db'), petId), 200);
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
      errors: ['pet_not_found', 'pet_has_open_order'],
      effect: 'the animal was changed',
    }),
    async (c) => {
      const { petId } = c.req.valid('param');
      const pet = await queries.updatePet(c.get('db'), petId, c.req.valid('json'));
      return c.json(pet, 200);
    },
  )
  .delete(
    '/pets/:petId',
    operation({
      operationId: 'deletePet',
      scope: 'write',
      param: PetPath,
      errors: ['pet_not_found', 'pet_has_open_order'],
      effect: 'the animal was deleted',
      safeRetry: '404 means that the animal is deleted.',
    }),
    async (c) => {
      const { petId } = c.req.valid('param');
      await queries.deletePet(c.get('db'), petId);
      return c.body(null, 204);
    },
  );
