/** client/README.md, and the rows of its table of methods. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';

export const README = readFileSync(join(PROJECT_ROOT, 'client/README.md'), 'utf8');

export const METHODS = Array.from(
  README.matchAll(/^\| `(\w+)` +\| `(\w+ [^`]+)` +\| (yes|no) /gm),
  ([, method = '', request = '', repeated]) => ({ method, request, repeated }),
);
