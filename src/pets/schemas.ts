import * as z from 'zod/mini';
import { int64, int64Text } from '../http/int64.ts';
import { pageParameters } from '../http/paging.ts';
import { strictBody, textOf } from '../http/schemas.ts';

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

export const CategoryId = int64();

export const NewPet = strictBody({
  name: Name,
  categoryId: CategoryId,
  status: z.optional(PetStatus),
});
export type NewPet = z.infer<typeof NewPet>;

export type Pet = { id: bigint } & NewPet;

/** A merge patch (RFC 7396): `null` removes the status. */
export const PetPatch = strictBody({
  name: z.optional(Name),
  categoryId: z.optional(CategoryId),
  status: z.optional(z.nullable(PetStatus)),
}).check(
  z.refine((patch) => Object.keys(patch).length > 0, {
    error: 'must have at least one field',
    // Not reported beside other problems, such as an unknown field.
    when: ({ issues }) => issues.length === 0,
  }),
);
export type PetPatch = z.infer<typeof PetPatch>;

export const PetPath = z.object({ petId: int64Text() });

export const PetQuery = pageParameters({ status: z.optional(PetStatus) });
export type PetQuery = z.infer<typeof PetQuery>;
