/**
 * What the description says of the schemas beyond what they say themselves. Build time only: kept apart
 * from the schemas, so that none of it weighs on the worker.
 */
import * as z from 'zod';
import type { ZodOpenApiMetadata } from 'zod-openapi';
import { STATUS_OF } from '../errors.ts';
import { Int64, LIMIT, NAME_LENGTH, Name, NewPet, Pet, PetStatus, Pets } from '../pets/schema.ts';

export const INT64 = { type: 'integer', format: 'int64' } as const;

export const ErrorBody = z.looseObject({
  code: z.enum(Object.keys(STATUS_OF) as [string, ...string[]]),
  message: z.string(),
  status: z.int().min(400).max(599),
});

/** The body of `GET /health`. */
export const Health = z.looseObject({
  status: z.literal('ok'),
  environment: z.enum(['local', 'staging', 'production']),
  version: z.string(),
});

export const PET = { id: 7, name: 'Rex', categoryId: 3, status: 'available' };

describe(Int64, {
  override: INT64,
  description: 'From -9223372036854775808 to 9223372036854775807.',
});
describe(Name, {
  override: { type: 'string', minLength: 1, maxLength: NAME_LENGTH, pattern: namePattern() },
  description:
    'At least one character is visible, none is a control character. Comes back exactly as it was sent.',
  examples: [PET.name],
});
describe(PetStatus, {
  id: 'PetStatus',
  description: 'Availability of the animal. To say nothing of it, leave it out: `null` is refused.',
});
describe(NewPet, {
  id: 'NewPet',
  description: 'An animal to add. The service assigns its id.',
  examples: [{ name: 'Rex', categoryId: 3, status: 'available' }],
});
describe(Pet, {
  id: 'Pet',
  description: 'An animal. One that was added without a status has none.',
  override: open,
  examples: [PET],
});
describe(Pets, {
  id: 'Pets',
  description: 'A page of animals, ascending by id.',
  override: { maxItems: LIMIT.maximum },
  examples: [[PET]],
});
describe(ErrorBody.shape.code, { description: 'What a program can act on: a closed set.' });
describe(ErrorBody.shape.message, {
  description: 'What a person can act on. Its words may change.',
});
describe(ErrorBody.shape.status, { description: 'The HTTP status of the response.' });
describe(Health, { id: 'Health', description: 'The service answers.', override: open });

export function describe(schema: z.ZodType, metadata: ZodOpenApiMetadata): void {
  z.globalRegistry.add(schema, metadata as z.GlobalMeta);
}

/** Fields may be added to what the service returns: clients ignore those that they do not know. */
export function open({ jsonSchema }: { jsonSchema: { additionalProperties?: unknown } }): void {
  delete jsonSchema.additionalProperties;
}

/**
 * The rules for a name as one regular expression that any tool understands: without classes such as
 * `\p{Cf}`, and the same with and without JavaScript's `u` flag. Two things it cannot say: that a
 * surrogate may not stand alone, and that the few format characters past U+FFFF are not visible.
 */
function namePattern(): string {
  const allowed = `[^${characters(/\p{Cc}/u)}]`;
  const visible = `[^${characters(/[\p{Cc}\p{White_Space}\p{Cf}]/u)}]`;
  return `^${allowed}*${visible}${allowed}*$`;
}

/** The characters of a class up to U+FFFF, as the inside of a character class. */
function characters(pattern: RegExp): string {
  const isIn = (codeUnit: number) =>
    codeUnit <= 0xffff && pattern.test(String.fromCharCode(codeUnit));
  const escaped = (codeUnit: number) => `\\u${codeUnit.toString(16).padStart(4, '0')}`;
  let ranges = '';
  for (let first = 0; first <= 0xffff; first += 1) {
    if (!isIn(first)) continue;
    let last = first;
    while (isIn(last + 1)) last += 1;
    ranges += first === last ? escaped(first) : `${escaped(first)}-${escaped(last)}`;
    first = last;
  }
  return ranges;
}
