/** What the smoke test expects of answers: each says what was found instead. */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { Answer } from './client.ts';

const Problem = z.object({ code: z.string(), message: z.string(), status: z.bigint() });

/** @throws Error naming what differs, what it is, and what it should be. */
export function expect(what: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new Error(`${what} is ${show(found)}, not ${show(expected)}`);
}

export function expectProblem(answer: Answer, status: number, code: string): void {
  expect('status', answer.status, status);
  expect('code', codeOf(answer), code);
}

/** The `code` of an Error body. */
export function codeOf({ body }: Answer): string | undefined {
  return Problem.safeParse(body).data?.code;
}

/** The items of a page of a list. `schema` is that of the page. */
export function expectPage<Item>(
  answer: Answer,
  schema: z.core.$ZodType<Item[]>,
  limit: number,
): Item[] {
  expect('status', answer.status, 200);
  expect('Content-Type', answer.headers.get('content-type')?.split(';')[0], 'application/json');
  expect('Cache-Control', answer.headers.get('cache-control'), 'private, no-store');
  expect('X-Content-Type-Options', answer.headers.get('x-content-type-options'), 'nosniff');
  expect('X-Request-Id', answer.headers.has('x-request-id'), true);
  const { data } = z.safeParse(schema, answer.body);
  if (!data) throw new Error('the body is not such a list');
  expect('no more than the limit', data.length <= limit, true);
  return data;
}

function show(value: unknown): string {
  const exact = (_: string, part: unknown) => (typeof part === 'bigint' ? String(part) : part);
  return JSON.stringify(value, exact) ?? 'missing';
}
