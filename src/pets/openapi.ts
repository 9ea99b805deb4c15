/** What the description says of animals. */
import { INT64_PROBLEM } from '../http/int64.ts';
import { LIMIT, LIMIT_PROBLEM } from '../http/paging.ts';
import { BODY, describe, type ResourceDescription } from '../openapi/describe.ts';
import { type Headers, location, nextPage, oneOf } from '../openapi/headers.ts';
import { as, describeCursor, describeSchema, open } from '../openapi/schemas.ts';
import { DEPRECATION, deprecationLinks, SUNSET, SUNSET_DATE } from './deprecation.ts';
import { petHasOpenOrder, petNotFound } from './errors.ts';
import {
  createPet,
  deletePet,
  getPet,
  listPets,
  NAME_LENGTH,
  Name,
  NewPet,
  Pet,
  PetPatch,
  PetStatus,
  Pets,
  petList,
  updatePet,
} from './schema.ts';

const PET = { id: 7, name: 'Rex', categoryId: 3, status: 'available' };

describeSchema(Name, {
  override: as({
    type: 'string',
    minLength: 1,
    maxLength: NAME_LENGTH,
    pattern: namePattern(),
  }),
  description:
    'At least one character is visible, none is a control character. Comes back exactly as it was sent.',
  examples: [PET.name],
});
describeSchema(PetStatus, { id: 'PetStatus', description: 'Availability of the animal.' });
describeSchema(NewPet, {
  id: 'NewPet',
  description: 'An animal to add. The service assigns its id. Leave `status` out for none.',
  examples: [{ name: 'Rex', categoryId: 3, status: 'available' }],
});
describeSchema(PetPatch, {
  id: 'PetPatch',
  description: 'The fields to change, at least one. `"status": null` removes the status.',
  override: { minProperties: 1 },
  examples: [{ name: 'Max' }],
});
describeSchema(Pet, {
  id: 'Pet',
  description: 'An animal. One without a status has no such field.',
  override: open,
  examples: [PET],
});
describeSchema(Pets, {
  id: 'Pets',
  description: 'A page of animals, ascending by id.',
  override: { maxItems: LIMIT.maximum },
  examples: [[PET]],
});

describeCursor(petList.query);
describeSchema(petList.query.shape.status, {
  description: 'Returns only animals with this status. An animal without a status matches none.',
});

const DEPRECATED: Headers = {
  Deprecation: oneOf('Since when (RFC 9745).', [DEPRECATION]),
  Sunset: oneOf('When it is to be removed (RFC 8594).', [SUNSET]),
  Link: {
    description: 'The operation to use instead, and the documentation (RFC 8288, RFC 5829).',
    required: true,
    schema: {
      type: 'string',
      pattern: '^<[^>]+>; rel="successor-version", <[^>]+>; rel="deprecation"$',
    },
    example: deprecationLinks('https://api.animal-store.example/v1'),
  },
};
const SUNSET_DAY = SUNSET_DATE.toISOString().slice(0, 10);

const invalidId = `petId: ${INT64_PROBLEM}`;

export const resource: ResourceDescription = {
  tags: [
    { name: 'animals', description: 'The animals of the store.' },
    { name: 'Pets', description: 'Changing and deleting animals.' },
  ],
  schemas: { PetStatus, NewPet, PetPatch, Pet, Pets },
  paths: {
    '/pets': {
      get: describe(listPets, {
        tag: 'animals',
        summary: 'List animals',
        description:
          'Ascending by id, optionally of one status: an animal without a status matches none. The next page is in the `Link` header; a page deep in the list costs what the first one does.',
        invalid: `limit: ${LIMIT_PROBLEM}; stauts: is not a known parameter, did you mean status?`,
        success: {
          status: 200,
          description: 'A page of animals.',
          schema: Pets,
          example: [PET],
          headers: nextPage('/pets'),
        },
      }),
      post: describe(createPet, {
        tag: 'animals',
        summary: 'Add an animal',
        description: 'The service assigns the id. Ids ascend, and none is used twice.',
        body: {
          description: BODY,
          examples: {
            available: { value: { name: 'Rex', categoryId: 3, status: 'available' } },
            withoutStatus: {
              summary: 'Without a status',
              value: { name: 'Mia 🐈', categoryId: 3 },
            },
          },
        },
        invalid: `name: is required; categoryId: ${INT64_PROBLEM}; nmae: is not a known field, did you mean name?`,
        success: {
          status: 201,
          description: 'The animal was added.',
          schema: Pet,
          example: PET,
          headers: location('/pets'),
        },
      }),
    },
    '/pets/{petId}': {
      get: describe(getPet, {
        tag: 'animals',
        summary: 'Get an animal',
        description:
          'To be removed on 5 December 2030. Use `GET /pets` with the `status` filter instead.',
        extra: { deprecated: true, 'x-sunset': SUNSET_DAY, 'x-deprecated-sunset': SUNSET_DAY },
        headers: DEPRECATED,
        invalid: invalidId,
        success: { status: 200, description: 'The animal.', schema: Pet, example: PET },
        errors: [petNotFound(7n)],
      }),
      patch: describe(updatePet, {
        tag: 'Pets',
        summary: 'Change an animal',
        description:
          'Sets the fields that the body has (a merge patch, RFC 7396). While an order of the animal is open, its status belongs to the order.',
        stability: 'beta',
        body: {
          description: BODY,
          examples: {
            rename: { value: { name: 'Max' } },
            withoutStatus: { summary: 'Remove the status', value: { status: null } },
          },
        },
        invalid: 'body: must have at least one field',
        success: { status: 200, description: 'The animal was changed.', schema: Pet, example: PET },
        errors: [petNotFound(7n), petHasOpenOrder(7n)],
      }),
      delete: describe(deletePet, {
        tag: 'Pets',
        summary: 'Delete an animal',
        description:
          'Its id is never used again. Delivered and cancelled orders keep it. A body is ignored.',
        stability: 'beta',
        invalid: invalidId,
        success: { status: 204, description: 'The animal was deleted.' },
        errors: [petNotFound(7n), petHasOpenOrder(7n)],
      }),
    },
  },
};

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
