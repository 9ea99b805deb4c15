/** What the description says of each operation. */
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { TOKEN_PATTERN } from '../middleware/consistency.ts';
import { SUNSET_DATE } from '../pets/deprecation.ts';
import { INT64_PROBLEM, LIMIT, NewPet, Pet, Pets } from '../pets/schema.ts';
import {
  BOOKMARK,
  COMMON_ERRORS,
  DEPRECATED,
  errors,
  LOCATION,
  NEXT_PAGE,
  REPLAYED,
  success,
} from './responses.ts';
import { Health, INT64, PET } from './schemas.ts';

const BOOKMARK_PARAMETER = {
  name: 'X-D1-Bookmark',
  in: 'header',
  description:
    'Runs the request in a session: it may be answered by the nearest replica that has at least that state. `first-unconstrained`, `first-primary`, or the bookmark of an earlier response. Without it, you read what you wrote.',
  schema: {
    type: 'string',
    pattern: TOKEN_PATTERN,
  },
} as const;

const CREATE_PET_INVALID = `name: is required; categoryId: ${INT64_PROBLEM}; nmae: is not a known field, did you mean name?`;
const HEALTH_INVALID =
  'Origin: must be on the loopback host, such as http://localhost:5173, in the local environment';
const GET_PET_INVALID = `petId: ${INT64_PROBLEM}`;
const SUNSET_DAY = SUNSET_DATE.toISOString().slice(0, 10);

export const listPets: ZodOpenApiOperationObject = {
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
      description:
        'Returns only animals with this status. One that was added without a status matches none.',
      schema: { $ref: '#/components/schemas/PetStatus' },
    },
    {
      name: 'cursor',
      in: 'query',
      description:
        'From the `Link` of the page before: opaque, and good for the same `status` only. Any other is a 400.',
      schema: { type: 'string' },
    },
    BOOKMARK_PARAMETER,
  ],
  responses: {
    200: success(
      'A page of animals.',
      { 'application/json': { schema: Pets, example: [PET] } },
      { ...NEXT_PAGE, ...BOOKMARK },
    ),
    ...errors(COMMON_ERRORS),
  },
};

export const createPet: ZodOpenApiOperationObject = {
  operationId: 'createPet',
  tags: ['animals'],
  summary: 'Add an animal',
  description: 'The service assigns the id: they ascend, and none is used twice.',
  parameters: [
    {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'Names this create, so that it can be sent again without adding the animal twice: within 24 hours the first answer comes again. 1 to 255 printable ASCII characters; quotes around them are ignored. It must not contain a comma followed by a space.',
      schema: { type: 'string', minLength: 1, maxLength: 257, pattern: '^[ -~]+$' },
      example: '"6b1f6f0e-2f0b-4a86-9a55-0f8f3a5a3a11"',
    },
    BOOKMARK_PARAMETER,
  ],
  requestBody: {
    required: true,
    description:
      'At most 16 KiB, uncompressed, in UTF-8: no other `charset` is taken. Unknown and repeated fields are refused. An integer may be written as `3.0` or `1e2`, too.',
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
      { ...LOCATION, ...REPLAYED, ...BOOKMARK },
    ),
    ...errors(
      ['invalid_json', ...COMMON_ERRORS, 'body_too_large', 'unsupported_media_type'],
      {},
      CREATE_PET_INVALID,
    ),
    ...errors(['idempotency_key_reused'], BOOKMARK),
  },
};

export const getPet: ZodOpenApiOperationObject = {
  operationId: 'getPet',
  tags: ['animals'],
  summary: 'Get an animal',
  description:
    'To be removed on 5 December 2030. Use `GET /pets` with the `status` filter instead.',
  deprecated: true,
  'x-sunset': SUNSET_DAY,
  'x-deprecated-sunset': SUNSET_DAY,
  parameters: [
    {
      name: 'petId',
      in: 'path',
      required: true,
      description: 'Identifier of the animal.',
      schema: INT64,
      example: PET.id,
    },
    BOOKMARK_PARAMETER,
  ],
  responses: {
    200: success(
      'The animal.',
      { 'application/json': { schema: Pet, example: PET } },
      { ...DEPRECATED, ...BOOKMARK },
    ),
    ...errors(COMMON_ERRORS, DEPRECATED, GET_PET_INVALID),
    ...errors(['pet_not_found'], { ...DEPRECATED, ...BOOKMARK }),
  },
};

export const getHealth: ZodOpenApiOperationObject = {
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
    ...errors(['invalid_request', 'https_required', 'internal_error'], {}, HEALTH_INVALID),
  },
};
