/** The shapes of animals: the only statement of them. Types are inferred from these schemas. */
import * as z from 'zod';
import { parseInt64 } from '../json.ts';
import { decodeCursor } from './cursor.ts';

export const PetStatus = z.enum(['available', 'pending', 'sold'], {
  error: ({ input }) =>
    input === null
      ? 'must not be null, leave it out for an animal without a status'
      : 'must be one of available, pending, sold',
});

export const INT64_PROBLEM = 'must be an integer from -9223372036854775808 to 9223372036854775807';

/** Arrives as a bigint: see parseJson. */
export const Int64 = z.int64({ error: required(INT64_PROBLEM) });

export const NAME_LENGTH = 255;

/** Comes back exactly as it was sent: nothing is trimmed or normalized. */
export const Name = z
  .string({ error: required('must be a string') })
  .refine((name) => name !== '', { error: 'must not be empty', abort: true })
  // Code points: a dog is one, though two UTF-16 code units.
  .refine(
    (name) => [...name].length <= NAME_LENGTH,
    `must be at most ${NAME_LENGTH} characters long`,
  )
  .refine((name) => !/\p{Cc}/u.test(name), 'must not contain control characters')
  .refine((name) => name.isWellFormed(), 'must not contain a lone surrogate')
  .refine((name) => /[^\p{White_Space}\p{Cf}]/u.test(name), 'must contain a visible character');

/** Body of `createPet`. */
export const NewPet = z.strictObject(
  { name: Name, categoryId: Int64, status: PetStatus.optional() },
  { error: 'must be a JSON object' },
);
export type NewPet = z.infer<typeof NewPet>;

/** An animal as it is returned. */
export const Pet = z.looseObject({ id: Int64, ...NewPet.shape });

/** Body of `listPets`. */
export const Pets = z.array(Pet);

export const LIMIT = { minimum: 1, maximum: 100, default: 20 };
const LIMIT_PROBLEM = `must be an integer from ${LIMIT.minimum} to ${LIMIT.maximum}`;

/** Query of `listPets`. */
export const ListPetsQuery = z
  .strictObject({
    limit: z
      .string(LIMIT_PROBLEM)
      .regex(/^[0-9]+$/, LIMIT_PROBLEM)
      .transform(Number)
      .pipe(
        z.number(LIMIT_PROBLEM).min(LIMIT.minimum, LIMIT_PROBLEM).max(LIMIT.maximum, LIMIT_PROBLEM),
      )
      .default(LIMIT.default),
    status: PetStatus.optional(),
    cursor: z
      .string('must be a cursor')
      .transform((text, context) => {
        const cursor = decodeCursor(text);
        if (cursor) return cursor;
        context.addIssue(
          'is not a cursor of this list (follow the Link header of the page before)',
        );
        return z.NEVER;
      })
      .optional(),
  })
  .refine(({ cursor, status }) => !cursor || cursor.status === status, {
    path: ['cursor'],
    error: 'was made for another status filter',
  });

/** Path of `getPet`. */
export const GetPetPath = z.strictObject({
  petId: z
    .string()
    .regex(/^-?[0-9]+$/, INT64_PROBLEM)
    .transform((digits, context) => {
      const id = parseInt64(digits);
      if (id !== undefined) return id;
      context.addIssue(INT64_PROBLEM);
      return z.NEVER;
    }),
});

/** Query of the operations that take none. */
export const NoQuery = z.strictObject({});

function required(problem: string) {
  return ({ input }: { input?: unknown }) => (input === undefined ? 'is required' : problem);
}
