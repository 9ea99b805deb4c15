/** The definitions of the operations on pets. Types are inferred from the schemas. */
import * as z from 'zod/mini';
import type { OperationDefinition } from '../definition.ts';
import { PATCH_TYPES } from '../http/body.ts';
import { Int64, Int64Text } from '../http/int64.ts';
import { pageParameters } from '../http/paging.ts';
import { strictBody, textOf } from '../http/schemas.ts';
import { CREATE_ADVICE } from '../http/unavailable.ts';

const STATUSES = ['available', 'pending', 'sold'] as const;

export const PetStatus = z.enum(STATUSES, {
  error: ({ input }) =>
    input === null
      ? 'must not be null: omit it for an animal without a status'
      : `must be one of ${STATUSES.join(', ')}`,
});
export type PetStatus = z.infer<typeof PetStatus>;

/** In Unicode code points. */
export const MAX_NAME_LENGTH = 255;

export const Name = textOf(MAX_NAME_LENGTH);

export const NewPet = strictBody({
  name: Name,
  categoryId: Int64,
  status: z.optional(PetStatus),
});
export type NewPet = z.infer<typeof NewPet>;

/** A merge patch (RFC 7396): `null` removes the status. */
export const PetPatch = strictBody({
  name: z.optional(Name),
  categoryId: z.optional(Int64),
  status: z.optional(z.nullable(PetStatus)),
}).check(
  z.refine((patch) => Object.keys(patch).length > 0, {
    error: 'must have at least one field',
    // Not reported beside other problems, such as an unknown field.
    when: ({ issues }) => issues.length === 0,
  }),
);
export type PetPatch = z.infer<typeof PetPatch>;

const PetPath = z.strictObject({ petId: Int64Text });

export const listPets = {
  operationId: 'listPets',
  scope: 'read',
  query: pageParameters({ status: z.optional(PetStatus) }),
} as const satisfies OperationDefinition;
export type PetListParameters = z.infer<typeof listPets.query>;

export const createPet = {
  operationId: 'createPet',
  scope: 'write',
  json: NewPet,
  acceptsIdempotencyKey: true,
  // Both are parts of the 503 for an unknown outcome: "It is unknown whether the animal was added. …"
  effect: 'the animal was added',
  retryAdvice: CREATE_ADVICE,
} as const satisfies OperationDefinition;

export const getPet = {
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
} as const satisfies OperationDefinition;

export const updatePet = {
  operationId: 'updatePet',
  scope: 'write',
  param: PetPath,
  json: PetPatch,
  mediaTypes: PATCH_TYPES,
  effect: 'the animal was changed',
  retryAdvice:
    'Check before you retry: the same change could overwrite a later one of another client.',
} as const satisfies OperationDefinition;

export const deletePet = {
  operationId: 'deletePet',
  scope: 'write',
  param: PetPath,
  effect: 'the animal was deleted',
  retryAdvice: 'A retry is safe: 404 means that the animal is deleted.',
} as const satisfies OperationDefinition;
