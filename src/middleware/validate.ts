import { zValidator } from '@hono/zod-validator';
import { createMiddleware } from 'hono/factory';
import { closestMatch } from 'leven';
import type * as z from 'zod';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';
import { REPEATED } from '../json.ts';

/** Longest query string that is parsed, in bytes. */
export const MAX_QUERY_BYTES = 2048;

/** The problems that a message lists. A request can have thousands. */
const MAX_PROBLEMS = 20;
/** The characters of an unknown field's name that a message shows. */
const MAX_SHOWN = 64;

type Target = 'query' | 'param' | 'json';

/** Rejects a query string that is too long before anything parses it. */
export const limitQuery = createMiddleware<AppEnv>(async function limitQuery(c, next) {
  const { url } = c.req;
  const start = url.indexOf('?');
  // The runtime does not escape what a client sends as UTF-8.
  if (start !== -1 && new TextEncoder().encode(url.slice(start + 1)).length > MAX_QUERY_BYTES) {
    throw new ApiError('invalid_request', `query: must be at most ${MAX_QUERY_BYTES} bytes`);
  }
  await next();
});

/**
 * Validates one part of the request with a strict object schema, for `c.req.valid(target)`. The 400
 * names every problem of that part at once, up to 20, as `name: problem; name: problem`.
 */
export function validate<U extends Target, T extends z.ZodObject>(target: U, schema: T) {
  return zValidator(target, schema, (result, c) => {
    // Hono leaves out a query parameter that has no name.
    const nameless = target === 'query' && /[?&]=/.test(c.req.url);
    if (result.success && !nameless) return;
    const members = new Map<PropertyKey, unknown>(Object.entries(result.data ?? {}));
    const problems: (() => string)[] = [];
    for (const issue of result.success ? [] : result.error.issues) {
      if (issue.code === 'unrecognized_keys') {
        const known = Object.keys(schema.shape);
        problems.push(...issue.keys.map((name) => () => unknownMember(name, target, known)));
        continue;
      }
      const [name = 'body'] = issue.path;
      const problem = isRepeated(members.get(name), target)
        ? 'must be given only once'
        : issue.message;
      problems.push(() => `${String(name)}: ${problem}`);
    }
    if (nameless) problems.push(() => 'query: has a parameter without a name');
    throw new ApiError('invalid_request', listProblems(problems));
  });
}

function listProblems(problems: (() => string)[]): string {
  const shown = problems.slice(0, MAX_PROBLEMS).map((problem) => problem());
  const more = problems.length - shown.length;
  return more > 0 ? `${shown.join('; ')}; and ${more} more` : shown.join('; ');
}

/** A JSON member given twice is marked; a parameter given twice arrives as an array. */
function isRepeated(value: unknown, target: Target): boolean {
  return target === 'json' ? value === REPEATED : Array.isArray(value);
}

function unknownMember(name: string, target: Target, known: string[]): string {
  const problem = target === 'json' ? 'is not a known field' : 'is not a known parameter';
  const start = [...name.slice(0, 2 * MAX_SHOWN)].slice(0, MAX_SHOWN).join('').toWellFormed();
  const isCut = start.length < name.length;
  const suggestion = isCut ? undefined : closestName(name, known);
  return `${start}${isCut ? '…' : ''}: ${problem}${suggestion ? `, did you mean ${suggestion}?` : ''}`;
}

/** `categoryid`, `category_id` and `stauts` are all close enough. */
function closestName(name: string, known: string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[_-]/g, '');
  const closest = closestMatch(plain(name), known.map(plain), { maxDistance: 2 });
  return known.find((candidate) => plain(candidate) === closest);
}
