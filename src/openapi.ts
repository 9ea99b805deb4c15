/**
 * The description of the interface, OpenAPI 3.1, from the schemas that validate the requests. Build time
 * only: `npm run openapi` writes it to public/v1/openapi.json.
 */
import { createDocument } from 'zod-openapi';
import { createPet, getHealth, getPet, listPets } from './openapi/operations.ts';
import { NewPet, Pet, PetStatus, Pets } from './pets/schema.ts';

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
- Every error has the same body; \`code\` is one of a closed set. A path that is not described is 404 \`not_found\` (paths are exact: no slash at the end), another method is 405 \`method_not_allowed\` with \`Allow\`.
- Unknown and repeated query parameters and fields are refused.
- Any origin may call (CORS), and read the headers that are described.
- \`HEAD\` works where \`GET\` does.
- Within \`/v1\` optional response fields and new operations may come. Ignore fields that you do not know.
- An operation that may still change is marked \`x-stability\`: \`experimental\` or \`beta\`. Without the mark it is stable.`;
