/**
 * The description of the interface, OpenAPI 3.1, from the schemas that validate the requests. Build time
 * only: `npm run openapi` writes it to public/v1/openapi.json.
 */
import { createDocument, type ZodOpenApiOperationObject } from 'zod-openapi';
import {
  COMMON_ERRORS,
  DEPRECATION,
  errors,
  LOCATION,
  NEXT_PAGE,
  success,
} from './openapi/responses.ts';
import { Health, INT64, PET } from './openapi/schemas.ts';
import { LIMIT, NewPet, Pet, PetStatus, Pets } from './pets/schema.ts';

export type Server = { url: string; description: string };

/** The document; `servers` are base addresses, ending in `/v1`. */
export function describeApi(servers: Server[]) {
  return createDocument({
    openapi: '3.1.1',
    info: {
      title: 'Animal store',
      version: '1.0.0',
      description: ABOUT,
      contact: { name: 'Documentation', url: new URL('/docs', servers[0]?.url).href },
    },
    servers,
    tags: [
      { name: 'animals', description: 'The animals of the store.' },
      { name: 'Store', description: 'Orders. Reserved: no operation has it yet.' },
      { name: 'Pets', description: 'Other operations on pets. Reserved: no operation has it yet.' },
      { name: 'service', description: 'The service itself.' },
    ],
    security: [{ apiKey: [] }],
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'animal_<environment>_<36 letters and digits>',
          description: 'An API key, as `Authorization: Bearer <API_KEY>`.',
        },
      },
      schemas: { PetStatus, NewPet, Pet, Pets },
    },
    paths: {
      '/pets': { get: listPets, post: createPet },
      '/pets/{petId}': { get: getPet },
      '/health': {
        servers: servers.map(({ url, description }) => ({ url: new URL(url).origin, description })),
        get: getHealth,
      },
    },
  });
}

const ABOUT = `A store of animals: list them by status, in pages; add one; fetch one by its id.

- Every operation needs an API key, but \`/health\`.
- \`id\` and \`categoryId\` are 64-bit integers, exact to the last digit: read them with a parser that keeps them.
- Every error has the same body; \`code\` is one of a closed set.
- \`HEAD\` works where \`GET\` does.
- Within \`/v1\` optional response fields and new operations may come. Ignore fields that you do not know.
- An operation that may still change is marked \`x-stability\`: \`experimental\` or \`beta\`. Without the mark it is stable.`;

const listPets: ZodOpenApiOperationObject = {
  operationId: 'listPets',
  tags: ['animals'],
  summary: 'List animals',
  description:
    'Ascending by id. The next page is in the `Link` header; a page deep in the list costs what the first one does.',
  parameters: [
    {
      name: 'limit',
      in: 'query',
      description: 'Maximum number of animals to return.',
      schema: { type: 'integer', ...LIMIT },
    },
    {
      name: 'status',
      in: 'query',
      description: 'Returns only animals with this status.',
      schema: { $ref: '#/components/schemas/PetStatus' },
    },
    {
      name: 'cursor',
      in: 'query',
      description:
        'From the `Link` of the page before: opaque, and good for the same `status` only.',
      schema: { type: 'string' },
    },
  ],
  responses: {
    200: success(
      'A page of animals.',
      { 'application/json': { schema: Pets, example: [PET] } },
      NEXT_PAGE,
    ),
    ...errors(COMMON_ERRORS),
  },
};

const createPet: ZodOpenApiOperationObject = {
  operationId: 'createPet',
  tags: ['animals'],
  summary: 'Add an animal',
  description: 'The service assigns the id: they ascend, and none is used twice.',
  requestBody: {
    required: true,
    description: 'At most 16 KiB, uncompressed. Unknown fields are refused.',
    content: {
      'application/json': {
        schema: NewPet,
        examples: {
          available: { value: { name: 'Rex', categoryId: 3, status: 'available' } },
          withoutStatus: { summary: 'Without a status', value: { name: 'Mia 🐈', categoryId: 3 } },
        },
      },
    },
  },
  responses: {
    201: success(
      'The animal, added.',
      { 'application/json': { schema: Pet, example: PET } },
      LOCATION,
    ),
    ...errors(['invalid_json', ...COMMON_ERRORS, 'body_too_large', 'unsupported_media_type']),
  },
};

const getPet: ZodOpenApiOperationObject = {
  operationId: 'getPet',
  tags: ['animals'],
  summary: 'Get an animal',
  description:
    'To be removed on 5 December 2030. Use `GET /pets` with the `status` filter instead.',
  deprecated: true,
  'x-sunset': '2030-12-05',
  'x-deprecated-sunset': '2030-12-05',
  parameters: [
    {
      name: 'petId',
      in: 'path',
      required: true,
      description: 'Identifier of the animal.',
      schema: INT64,
      example: PET.id,
    },
  ],
  responses: {
    200: success('The animal.', { 'application/json': { schema: Pet, example: PET } }, DEPRECATION),
    ...errors([...COMMON_ERRORS, 'pet_not_found'], DEPRECATION),
  },
};

const getHealth: ZodOpenApiOperationObject = {
  operationId: 'getHealth',
  tags: ['service'],
  summary: 'See that the service answers',
  description:
    'Needs no key, and looks at nothing: it tells that the worker runs, and which version.',
  security: [],
  responses: {
    200: success('It does.', {
      'application/json': {
        schema: Health,
        example: {
          status: 'ok',
          environment: 'production',
          version: '7f3c0a52-0d1e-4a53-9f0b-6f6f1d3d8c11',
        },
      },
    }),
    ...errors(['internal_error']),
  },
};
