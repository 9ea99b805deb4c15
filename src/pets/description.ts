import * as z from 'zod/mini';
import { int64 } from '../http/int64.ts';
import type { ResourceDescription } from '../operation/resource-description.ts';
import { petHasOpenOrder, petNotFound } from './errors.ts';
import {
  CategoryId,
  Name,
  NewPet,
  type Pet,
  PetPatch,
  PetPath,
  PetQuery,
  PetStatus,
} from './schemas.ts';

const NEW_PET = { name: 'Rex', categoryId: 3, status: 'available' };
const PET = { id: 7, ...NEW_PET };

PetStatus.register(z.globalRegistry, {
  id: 'PetStatus',
  description: 'Availability of the animal.',
});
Name.register(z.globalRegistry, {
  description:
    "The animal's name. It must contain a visible character (white space, format, ignorable and blank characters are invisible) and no control characters. Its length is counted in Unicode code points. It is returned exactly as it was sent.",
});
CategoryId.register(z.globalRegistry, {
  description: 'Identifier of the category of the animal.',
});
NewPet.register(z.globalRegistry, {
  id: 'NewPet',
  description:
    'An animal to add. The service assigns its id. Omit `status` for an animal without a status.',
  examples: [NEW_PET],
});
PetPatch.register(z.globalRegistry, {
  id: 'PetPatch',
  description: 'The fields to change, at least one. `"status": null` removes the status.',
  override: { minProperties: 1 },
  examples: [{ name: 'Max' }],
});
PetPatch.shape.status.register(z.globalRegistry, {
  description: 'The new status; `null` removes it.',
});

const PetBody = z
  .object({
    id: int64().register(z.globalRegistry, {
      description: 'Identifier of the animal, assigned by the service.',
    }),
    ...NewPet.shape,
  })
  .register(z.globalRegistry, {
    id: 'Pet',
    description: 'An animal. The field `status` is absent if the animal has no status.',
    examples: [PET],
  }) satisfies z.ZodMiniType<Pet>;

const Pets = z.array(PetBody).register(z.globalRegistry, {
  id: 'Pets',
  description: 'A page of animals, ascending by id.',
  examples: [[PET]],
});

PetPath.shape.petId.register(z.globalRegistry, {
  description: 'Identifier of the animal.',
  param: { example: PET.id },
});
PetQuery.shape.status.register(z.globalRegistry, {
  description: 'Returns only animals with this status. Animals without a status never match.',
});

export const description: ResourceDescription = {
  // The names are given by the specification: docs/decisions.md.
  tags: [
    { name: 'animals', description: 'List, add and fetch animals.' },
    { name: 'Pets', description: 'Change and delete animals.' },
  ],
  operations: {
    listPets: {
      tags: ['animals'],
      summary: 'List animals',
      description:
        'Lists animals by ascending id. With `status`, only animals with that status are listed. If there is a next page, the `Link` header has its URL.',
      responses: { 200: { description: 'A page of animals.', schema: Pets } },
    },
    createPet: {
      tags: ['animals'],
      summary: 'Add an animal',
      description:
        'The service assigns the id. The ids of new animals ascend, and no id is used twice.',
      requestBody: {
        examples: {
          available: { value: NEW_PET },
          withoutStatus: {
            summary: 'Without a status',
            value: { name: 'Mia 🐈', categoryId: 3 },
          },
        },
      },
      responses: { 201: { location: true, description: 'The animal was added.', schema: PetBody } },
    },
    getPet: {
      tags: ['animals'],
      summary: 'Get an animal',
      description:
        'Use `GET /pets` instead, with the `status` filter, or with `?limit=1&after=6` for animal 7.',
      responses: { 200: { description: 'The animal.', schema: PetBody } },
    },
    updatePet: {
      tags: ['Pets'],
      summary: 'Change an animal',
      description:
        'Changes the fields in the body, and keeps all others (a JSON merge patch, RFC 7396). While an animal has an open order, its status cannot be set.',
      'x-stability': 'beta',
      requestBody: {
        examples: {
          rename: { value: { name: 'Max' } },
          withoutStatus: { summary: 'Remove the status', value: { status: null } },
        },
      },
      responses: { 200: { description: 'The animal was changed.', schema: PetBody } },
    },
    deletePet: {
      tags: ['Pets'],
      summary: 'Delete an animal',
      description:
        'While an animal has an open order, it cannot be deleted. Its delivered and cancelled orders remain. Its id is not used again. A request body is ignored.',
      'x-stability': 'beta',
      responses: { 204: { description: 'The animal was deleted.' } },
    },
  },
  errors: [petNotFound(7n), petHasOpenOrder(7n)],
};
