/** client/README.md, and its parts that several tests read. */
import { readFileSync } from 'node:fs';

export const README = readFileSync('client/README.md', 'utf8');

/** The examples, as one program. */
export const EXAMPLES = Array.from(README.matchAll(/```ts\n(.*?)```/gs), ([, block]) => block).join(
  '',
);

/** The rows of the table of methods. */
export const METHODS = Array.from(
  README.matchAll(/^\| `(\w+)` +\| `(.+?)` +\| (yes|no) /gm),
  ([, name, request = '', retried]) => ({
    name,
    request: request.replace('/', '/v1/'),
    retried,
  }),
);
