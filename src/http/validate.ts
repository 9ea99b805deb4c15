import type { Context } from 'hono';
import { closestMatch } from 'leven';
import * as z from 'zod/mini';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';
import { lazy } from '../lazy.ts';
import { REPEATED } from './json.ts';

/** Maximum length of a query string that is parsed, in bytes. */
export const MAX_QUERY_BYTES = 2048;

/** Maximum number of problems in a message. A request can have thousands. */
export const MAX_PROBLEMS = 20;
/** Maximum number of characters of an unknown field's name in a message. */
const MAX_SHOWN = 64;

/** A part of the request: its path parameters, its query parameters or its body. */
export type Part = 'param' | 'query' | 'json';

/** The query of an operation that accepts no parameters. */
export const NoQuery = lazy(() => z.strictObject({}));

/**
 * Validates a part of the request with a strict object schema. `c.req.valid(part)` then returns the value.
 *
 * @returns every problem, as `name: problem`.
 */
export function validate(
  c: Context<AppEnv>,
  part: Part,
  schema: z.ZodMiniObject,
  value: unknown,
): string[] {
  const result = schema.safeParse(value);
  if (!result.success) return problemsOf(part, schema, value, result.error.issues);
  c.req.addValidatedData(part, result.data);
  return [];
}

/** Validates the query. Does not parse a query that is too long. */
export function validateQuery(c: Context<AppEnv>, schema: z.ZodMiniObject): string[] {
  const { url } = c.req;
  const start = url.indexOf('?');
  const search = start === -1 ? '' : url.slice(start);
  if (search === '') return validate(c, 'query', schema, {});
  // The runtime does not escape raw UTF-8 in a URL, which has up to three bytes per UTF-16 code unit.
  const isLong = search.length > MAX_QUERY_BYTES / 3;
  if (isLong && new TextEncoder().encode(search).length > '?'.length + MAX_QUERY_BYTES) {
    return [`query: must be at most ${MAX_QUERY_BYTES} bytes`];
  }
  const values = c.req.queries();
  const parameters: Record<string, string | string[]> = values;
  for (const name of Object.keys(values)) {
    const [value, ...others] = values[name] ?? [];
    // A repeated parameter stays an array, which `isRepeated` finds.
    if (value !== undefined && others.length === 0) parameters[name] = value;
  }
  const problems = validate(c, 'query', schema, parameters);
  // Hono omits parameters without a name.
  if (/^\?=|&=/.test(search)) problems.push('query: every parameter must have a name');
  return problems;
}

/** The 400 that lists the problems of a request, up to 20. */
export function invalidRequest(problems: string[]): ApiError {
  const more = problems.length - MAX_PROBLEMS;
  const shown = [...problems.slice(0, MAX_PROBLEMS), ...(more > 0 ? [`and ${more} more`] : [])];
  return new ApiError('invalid_request', shown.join('; '));
}

/** The problems that zod found in a part, as `name: problem`. */
export function problemsOf(
  part: Part,
  schema: z.ZodMiniObject,
  value: unknown,
  issues: z.core.$ZodIssue[],
): string[] {
  const members = new Map<PropertyKey, unknown>(Object.entries(value ?? {}));
  const known = Object.keys(schema.shape);
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((name) => unknownMember(name, part, known));
    }
    const name = String(issue.path[0] ?? 'body');
    const isGivenTwice = isRepeated(members.get(name), part);
    return [`${name}: ${isGivenTwice ? 'must be given only once' : issue.message}`];
  });
}

/** `parseJson` marks a repeated member; a repeated parameter is an array. */
function isRepeated(value: unknown, part: Part): boolean {
  return part === 'json' ? value === REPEATED : Array.isArray(value);
}

function unknownMember(name: string, part: Part, known: string[]): string {
  const problem = part === 'json' ? 'is not a known field' : 'is not a known parameter';
  const start = [...name.slice(0, 2 * MAX_SHOWN)].slice(0, MAX_SHOWN).join('').toWellFormed();
  const isCut = start.length < name.length;
  const suggestion = isCut ? undefined : closestName(name, known);
  return `${start || '""'}${isCut ? '…' : ''}: ${problem}${suggestion ? `, did you mean ${suggestion}?` : ''}`;
}

/** Finds `categoryId` for `category_id`, and `status` for `stauts`. */
function closestName(name: string, known: string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[_-]/g, '');
  const closest = closestMatch(plain(name), known.map(plain), { maxDistance: 2 });
  return known.find((candidate) => plain(candidate) === closest);
}
