/**
 * Validates requests with zod. `zValidator` validates one part after another and stops at the first invalid one; its hook
 * `rejectInvalid` then validates all parts again, so that one 400 names every problem.
 */
import type { Context } from 'hono';
import { closestMatch } from 'leven';
import * as z from 'zod/mini';
import { bookmarkProblems } from '../d1/bookmark.ts';
import { idempotencyKeyProblems } from '../d1/idempotency/header.ts';
import type { Part } from '../definition.ts';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';
import { lazy } from '../lazy.ts';
import { REPEATED } from './json.ts';
import { preconditionProblems } from './preconditions.ts';

/** Maximum length of a query string that is parsed, in bytes. */
export const MAX_QUERY_BYTES = 2048;
/** Maximum number of parameters of a query. */
const MAX_PARAMETERS = 50;

/** Maximum number of problems in a message. A request can have thousands. */
export const MAX_PROBLEMS = 20;
/** Maximum number of characters of an unknown field's name in a message. */
const MAX_SHOWN = 64;

/** The query of an operation that accepts no parameters. */
export const NoQuery = lazy(() => z.strictObject({}));

/**
 * The hook of every `zValidator`.
 *
 * @throws ApiError 400 that names every problem of the request, when the part is invalid.
 */
export function rejectInvalid(result: { success: boolean }, c: Context): Promise<void> | undefined {
  return result.success ? undefined : rejectRequest(c);
}

async function rejectRequest(c: Context<AppEnv>): Promise<void> {
  await requireNoProblem(c);
  throw new Error('a validator must have the schema of its operation');
}

/** The query of the URL with its `?`, or an empty string. */
function searchOf(c: Context): string {
  const { url } = c.req;
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start);
}

/** A query with a parameter without a name. */
const NAMELESS_PARAMETER = /^\?=|&=/;

/** The problem of a query that must not be parsed, because that would be slow: Hono decodes each invalid escape separately. */
function unreadableQuery(search: string): string | undefined {
  // A URL can contain raw UTF-8. A UTF-16 code unit has at most three bytes, so most queries need not be encoded.
  const mayBeTooLong = search.length > MAX_QUERY_BYTES / 3;
  if (mayBeTooLong && new TextEncoder().encode(search).length > '?'.length + MAX_QUERY_BYTES) {
    return `query: must be at most ${MAX_QUERY_BYTES} bytes`;
  }
  if (search.split('&', MAX_PARAMETERS + 1).length > MAX_PARAMETERS) {
    return `query: must have at most ${MAX_PARAMETERS} parameters`;
  }
  if (!search.includes('%')) return undefined;
  try {
    decodeURIComponent(search);
    return undefined;
  } catch {
    return 'query: must be percent-encoded UTF-8';
  }
}

/**
 * Checks the headers, the text of the query, and that an operation without query parameters gets none. `zValidator`
 * checks the rest.
 *
 * @throws ApiError 400 that names every problem of the request.
 */
export async function validateHeadersAndQuery(c: Context<AppEnv>): Promise<void> {
  const { query } = c.get('operation');
  const search = searchOf(c);
  const hasQueryProblem =
    search !== '' &&
    (!query || NAMELESS_PARAMETER.test(search) || unreadableQuery(search) !== undefined);
  if (hasQueryProblem || headerProblems(c).length > 0) await requireNoProblem(c);
}

/** @throws ApiError 400 that names every problem of the request, if it has one. */
async function requireNoProblem(c: Context<AppEnv>): Promise<void> {
  const { json } = c.get('operation');
  const problems = problemsOutsideBody(c);
  if (json) problems.push(...problemsOfPart('json', json(), await c.req.json()));
  if (problems.length > 0) throw invalidRequest(problems);
}

/** The problems of the path, the query and the headers, as `name: problem`. */
export function problemsOutsideBody(c: Context<AppEnv>): string[] {
  const { param, query = NoQuery } = c.get('operation');
  return [
    ...(param ? problemsOfPart('param', param(), c.req.param()) : []),
    ...queryProblems(c, query()),
    ...headerProblems(c),
  ];
}

function headerProblems(c: Context<AppEnv>): string[] {
  return [
    ...(c.get('operation').idempotent ? idempotencyKeyProblems(c) : []),
    ...bookmarkProblems(c),
    ...preconditionProblems(c),
  ];
}

/** The problems of the query. A query that is too long or malformed is not parsed. */
export function queryProblems(c: Context, schema: z.ZodMiniObject): string[] {
  const search = searchOf(c);
  const unreadable = unreadableQuery(search);
  if (unreadable) return [unreadable];
  // A repeated parameter stays an array, as in Hono's validator.
  const parameters = Object.entries(c.req.queries()).map(([name, values]) => [
    name,
    values.length === 1 ? values[0] : values,
  ]);
  const problems = problemsOfPart('query', schema, Object.fromEntries(parameters));
  // Hono omits parameters without a name.
  if (NAMELESS_PARAMETER.test(search)) problems.push('query: every parameter must have a name');
  return problems;
}

/** The 400 that lists the problems of a request. */
export function invalidRequest(problems: string[]): ApiError {
  const shown = problems.slice(0, MAX_PROBLEMS);
  const hidden = problems.length - shown.length;
  if (hidden > 0) shown.push(`and ${hidden} more`);
  return new ApiError('invalid_request', shown.join('; '));
}

/** The problems that a schema finds in a part, as `name: problem`. */
export function problemsOfPart(part: Part, schema: z.ZodMiniObject, value: unknown): string[] {
  const { issues = [] } = schema.safeParse(value).error ?? {};
  // A Map has no inherited members, such as `constructor`.
  const given = new Map<PropertyKey, unknown>(Object.entries(value ?? {}));
  const known = Object.keys(schema.shape);
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((name) => unknownMember(name, part, known));
    }
    const name = String(issue.path[0] ?? 'body');
    const isGivenTwice = isRepeated(given.get(name), part);
    return [`${name}: ${isGivenTwice ? 'must be given only once' : issue.message}`];
  });
}

/** `parseJson` marks a repeated member; a repeated parameter is an array. */
function isRepeated(value: unknown, part: Part): boolean {
  return part === 'json' ? value === REPEATED : Array.isArray(value);
}

function unknownMember(name: string, part: Part, known: string[]): string {
  const start = firstCharacters(name, MAX_SHOWN);
  const isWhole = start.length === name.length;
  const shown = isWhole ? name || '""' : `${start}…`;
  const problem = part === 'json' ? 'is not a known field' : 'is not a known parameter';
  const suggestion = isWhole ? closestName(name, known) : undefined;
  const hint = suggestion ? `, did you mean ${suggestion}?` : '';
  return `${shown.toWellFormed()}: ${problem}${hint}`;
}

/** The first `count` code points of a text. Each has at most two code units. */
function firstCharacters(text: string, count: number): string {
  return [...text.slice(0, 2 * count)].slice(0, count).join('');
}

/** Finds `categoryId` for `category_id`, and `status` for `stauts`. */
function closestName(name: string, known: string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[_-]/g, '');
  const closest = closestMatch(plain(name), known.map(plain), { maxDistance: 2 });
  return known.find((candidate) => plain(candidate) === closest);
}
