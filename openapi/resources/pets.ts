/** The description of the operations on pets. */
import * as z from 'zod/mini';
import { Int64 } from '../../src/http/int64.ts';
import { LIMIT } from '../../src/http/paging.ts';
import { VERSION_PATH } from '../../src/http/responses.ts';
import { deprecationLinks } from '../../src/middleware/response-headers.ts';
import { petHasOpenOrder, petNotFound } from '../../src/pets/errors.ts';
import {
  createPet,
  deletePet,
  getPet,
  listPets,
  MAX_NAME_LENGTH,
  Name,
  NewPet,
  PetPatch,
  PetStatus,
  updatePet,
} from '../../src/pets/operations.ts';
import { BODY_DESCRIPTION, describeOperation, type ResourceDescription } from '../describe.ts';
import { constantHeader, type Headers, LOCATION, NEXT_PAGE, textHeader } from '../headers.ts';
import { allowUnknownFields, describeFilter, describeSchema, describeText } from '../schemas.ts';

const Pet = z.looseObject({ id: Int64, ...NewPet.shape });
const Pets = z.array(Pet);

const NEW_PET = { name: 'Rex', categoryId: 3, status: 'available' };
const PET = { id: 7, ...NEW_PET };

describeText(Name, MAX_NAME_LENGTH);
describeSchema(PetStatus, { id: 'PetStatus', description: 'Availability of the animal.' });
describeSchema(NewPet, {
  id: 'NewPet',
  description:
    'An animal to add. The service assigns its id. Omit `status` for an animal without a status.',
  examples: [NEW_PET],
});
describeSchema(PetPatch, {
  id: 'PetPatch',
  description: 'The fields to change, at least one. `"status": null` removes the status.',
  override: { minProperties: 1 },
  examples: [{ name: 'Max' }],
});
describeSchema(Pet, {
  id: 'Pet',
  description: 'An animal. The field `status` is absent if the animal has no status.',
  override: allowUnknownFields,
  examples: [PET],
});
describeSchema(Pets, {
  id: 'Pets',
  description: 'A page of animals, ascending by id.',
  override: { minItems: 0, maxItems: LIMIT.maximum },
  examples: [[PET]],
});

describeFilter(
  listPets.query.shape.status,
  'Returns only animals with this status. Animals without a status never match.',
);

const { deprecation } = getPet;

const DEPRECATED: Headers = {
  Deprecation: constantHeader(
    'Deprecation',
    deprecation.since,
    'The time of the deprecation (RFC 9745).',
  ),
  Sunset: constantHeader(
    'Sunset',
    deprecation.sunset,
    'The time of the planned removal (RFC 8594).',
  ),
  DeprecationLinks: textHeader(
    'Link',
    {
      description: 'The replacement and the documentation (RFC 8288, RFC 5829).',
      example: deprecationLinks(deprecation, `https://api.animal-store.example${VERSION_PATH}`),
      pattern: '^<[^>]+>; rel="successor-version", <[^>]+>; rel="deprecation"$',
    },
    [1, 2048],
  ),
};
const SUNSET_DATE = new Date(deprecation.sunset);
const SUNSET_DAY = SUNSET_DATE.toISOString().slice(0, 10);

const SUNSET_TEXT = SUNSET_DATE.toLocaleDateString('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

// Not in the metadata of `Name`, which another resource may use for names of its own.
const NAME_DESCRIPTION = `The animal's name: 1 to ${MAX_NAME_LENGTH} Unicode code points, at least one of them visible (not white space, a format character or a blank letter). Returned exactly as it was sent.`;
const CATEGORY_ID = 'Identifier of the category of the animal.';

export const resource: ResourceDescription = {
  // The names are given by the specification: docs/decisions.md.
  tags: [
    { name: 'animals', description: 'The animals of the store.' },
    { name: 'Pets', description: 'Changing and deleting animals.' },
  ],
  schemas: { PetStatus, NewPet, PetPatch, Pet, Pets },
  parameters: { petId: 'Identifier of the animal.' },
  fields: {
    NewPet: { name: NAME_DESCRIPTION, categoryId: CATEGORY_ID },
    PetPatch: {
      name: NAME_DESCRIPTION,
      categoryId: CATEGORY_ID,
      status: 'The new status; `null` removes it.',
    },
    Pet: {
      id: 'Identifier of the animal, assigned by the service.',
      name: NAME_DESCRIPTION,
      categoryId: CATEGORY_ID,
    },
  },
  headers: DEPRECATED,
  paths: {
    '/pets': {
      get: describeOperation(listPets, {
        tag: 'animals',
        summary: 'List animals',
        description:
          'Lists animals by ascending id, optionally only those with one status. The URL of the next page is in the `Link` header. Every page costs the same.',
        invalid: { query: { limit: '0', stauts: 'sold' } },
        success: {
          status: 200,
          description: 'A page of animals.',
          schema: Pets,
          example: [PET],
          headers: NEXT_PAGE,
        },
      }),
      post: describeOperation(createPet, {
        tag: 'animals',
        summary: 'Add an animal',
        description: 'The service assigns the id. Ids ascend and are never reused.',
        body: {
          description: BODY_DESCRIPTION,
          examples: {
            available: { value: NEW_PET },
            withoutStatus: {
              summary: 'Without a status',
              value: { name: 'Mia 🐈', categoryId: 3 },
            },
          },
        },
        invalid: { json: { nmae: 'Rex', categoryId: '3' } },
        success: {
          status: 201,
          description: 'The animal was added.',
          schema: Pet,
          example: PET,
          headers: LOCATION,
        },
      }),
    },
    '/pets/{petId}': {
      get: describeOperation(getPet, {
        tag: 'animals',
        summary: 'Get an animal',
        description: `Will be removed on ${SUNSET_TEXT}. Use \`GET /pets\` with the \`status\` filter instead.`,
        // Tools read the date under two names.
        extra: { deprecated: true, 'x-sunset': SUNSET_DAY, 'x-deprecated-sunset': SUNSET_DAY },
        headers: DEPRECATED,
        invalid: { param: { petId: 'seven' } },
        success: { status: 200, description: 'The animal.', schema: Pet, example: PET },
        errors: [petNotFound(7n)],
      }),
      patch: describeOperation(updatePet, {
        tag: 'Pets',
        summary: 'Change an animal',
        description:
          'Sets the fields in the body (a JSON merge patch, RFC 7396). While the animal has an open order, its status cannot be set.',
        stability: 'beta',
        body: {
          description: BODY_DESCRIPTION,
          examples: {
            rename: { value: { name: 'Max' } },
            withoutStatus: { summary: 'Remove the status', value: { status: null } },
          },
        },
        invalid: { param: { petId: 'seven' } },
        success: { status: 200, description: 'The animal was changed.', schema: Pet, example: PET },
        errors: [petNotFound(7n), petHasOpenOrder(7n)],
      }),
      delete: describeOperation(deletePet, {
        tag: 'Pets',
        summary: 'Delete an animal',
        description:
          'The id is never reused. Delivered and cancelled orders keep it. A request body is ignored. While the animal has an open order, it cannot be deleted.',
        stability: 'beta',
        invalid: { param: { petId: 'seven' } },
        success: { status: 204, description: 'The animal was deleted.' },
        errors: [petNotFound(7n), petHasOpenOrder(7n)],
      }),
    },
  },
};
