/** What client/README.md and the description say of the operations. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';

export const README = readFileSync(join(PROJECT_ROOT, 'client/README.md'), 'utf8');

type Described = { operationId: string; deprecated?: true; 'x-stability'?: string };
type Paths = Record<string, Record<string, Described>>;

const description: { paths: Paths; info: { version: string } } = JSON.parse(
  readFileSync(join(PROJECT_ROOT, 'public/v1/openapi.json'), 'utf8'),
);
export const VERSION = description.info.version;

/** The operations of the description. */
export const OPERATIONS = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { operationId }]) => operationId)
    .map(([method, operation]) => ({ request: `${method.toUpperCase()} ${path}`, ...operation })),
);

/** The rows of the table of methods in client/README.md. */
export const METHODS = Array.from(
  README.matchAll(/^\| `(\w+)` +\| `(\w+ [^`]+)` +\| (yes|no) /gm),
  ([, method = '', request = '', repeated]) => ({ method, request, repeated }),
);
