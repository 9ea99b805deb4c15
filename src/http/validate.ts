import { zValidator } from '@hono/zod-validator';
import type { Context, Next } from 'hono';
import { closestMatch } from 'leven';
import type { ZodSafeParseResult } from 'zod';
import * as z from 'zod/mini';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';
import { REPEATED } from './json.ts';

/** Longest query string that is parsed, in bytes. */
const MAX_QUERY_BYTES = 2048;

/** The problems that a message lists. A request can have thousands. */
const MAX_PROBLEMS = 20;
/** The characters of an unknown field's name that a message shows. */
const MAX_SHOWN = 64;

type Target = 'query' | 'param' | 'json';

/** A step of a request that throws, or leaves what it validated for `c.req.valid`. */
export type Validator = (c: Context, next: Next) => Promise<unknown>;

/** A problem of a member; without `problem`, the member is unknown. */
type Problem = { name: string; problem?: string };

/** The query of an operation that accepts no parameters. */
export const NoQuery = z.strictObject({});

/** Rejects a query string that is too long before anything parses it. */
export function limitQuery(c: Context<AppEnv>): void {
  const { url } = c.req;
  const start = url.indexOf('?');
  // The runtime does not escape what a client sends as UTF-8.
  if (start !== -1 && new TextEncoder().encode(url.slice(start + 1)).length > MAX_QUERY_BYTES) {
    throw invalidRequest(`query: must be at most ${MAX_QUERY_BYTES} bytes`);
  }
}

/**
 * Validates one part of the request with a strict object schema, for `c.req.valid(target)`. The 400
 * names every problem of that part at once, up to 20, as `name: problem; name: problem`.
 */
export function validate(target: Target, schema: z.ZodMiniObject): Validator {
  return zValidator(
    target,
    schema,
    (result, c) => {
      // Hono leaves out a query parameter that has no name.
      const nameless = target === 'query' && /[?&]=/.test(c.req.url);
      if (result.success && !nameless) return;
      const members = new Map<PropertyKey, unknown>(Object.entries(result.data ?? {}));
      const issues = result.success ? [] : result.error.issues;
      const problems = issues.flatMap((issue): Problem[] => {
        if (issue.code === 'unrecognized_keys') return issue.keys.map((name) => ({ name }));
        const name = String(issue.path[0] ?? 'body');
        const isTwice = isRepeated(members.get(name), target);
        return [{ name, problem: isTwice ? 'must be given only once' : issue.message }];
      });
      if (nameless) problems.push({ name: 'query', problem: 'has a parameter without a name' });
      const shown = problems
        .slice(0, MAX_PROBLEMS)
        .map(({ name, problem }) =>
          problem ? `${name}: ${problem}` : unknownMember(name, target, Object.keys(schema.shape)),
        );
      const more = problems.length - shown.length;
      throw invalidRequest([...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; '));
    },
    // No schema is asynchronous: promises would cost time, and change the order of the problems. The option's
    // type wants the error class of zod's larger build, of which the hook uses the issues alone.
    {
      validationFunction: (_, value) => schema.safeParse(value) as ZodSafeParseResult<unknown>,
    },
  );
}

export function invalidRequest(problems: string): ApiError {
  return new ApiError('invalid_request', problems);
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
