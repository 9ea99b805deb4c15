/**
 * The smoke test: a client's view of a store, in a dozen requests. In production it only reads; the way to
 * write is tried with an animal that must be refused. Elsewhere it adds two, and removes them afterwards.
 */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { DEPRECATION, SUNSET } from '../../src/pets/deprecation.ts';
import { Pets } from '../../src/pets/schema.ts';
import type { Answer, Client } from './client.ts';

export type SmokeTest = {
  client: Client;
  apiKey: string;
  /** What `Link` and `Location` must begin with; ends in `/v1`. */
  baseUrl: string;
  environment: string;
  /** The version that must answer, where it matters which. */
  version?: string;
  /** Removes what the test added; without it nothing is added. */
  remove?: (added: Added) => Promise<void>;
};

/** What the smoke test added: animals of this name, sent with this idempotency key. */
export type Added = { name: string; idempotencyKeys: string[]; ids: bigint[] };

export type Check = { check: string; result: string };

/** A pet's id that no store gives out. */
const NO_PET = '-9223372036854775808';

export const Health = z.object({
  status: z.literal('ok'),
  environment: z.string(),
  version: z.string(),
});
type Page = z.infer<typeof Pets>;
const Problem = z.object({ code: z.string(), message: z.string(), status: z.bigint() });

/**
 * Runs the checks in order and returns what each has seen.
 *
 * @throws Error naming the check that failed, what was expected and what came.
 */
export async function smokeTest(test: SmokeTest): Promise<Check[]> {
  const { client, baseUrl, remove } = test;
  const authorization = { Authorization: `Bearer ${test.apiKey}` };
  const get = (path: string) => client.send(path, { headers: authorization });
  const post = (body: string, headers: Record<string, string> = {}) =>
    client.send('/v1/pets', {
      method: 'POST',
      headers: { ...authorization, 'Content-Type': 'application/json', ...headers },
      body,
    });
  const checks: Check[] = [];
  const check = async (name: string, run: () => Promise<string>) => {
    const result = await run().catch((error: Error) => {
      throw new Error(`smoke test, ${name}: ${error.message}`);
    });
    checks.push({ check: name, result });
  };

  await check('health', () => health(test));
  await check('no key is a 401', async () => {
    const answer = await client.send('/v1/pets');
    expectProblem(answer, 401, 'missing_api_key');
    expect('WWW-Authenticate', answer.headers.get('www-authenticate')?.split(' ')[0], 'Bearer');
    return 'missing_api_key';
  });
  await check('a wrong request is a 400', async () => {
    expectProblem(await get('/v1/pets?limit=0'), 400, 'invalid_request');
    return 'invalid_request';
  });
  await check('a wrong animal is a 400', async () => {
    expectProblem(await post('{}'), 400, 'invalid_request');
    return 'invalid_request';
  });

  const added: Added = { name: `Smoke test ${randomUUID()}`, idempotencyKeys: [], ids: [] };
  try {
    for (const animal of remove ? ['an animal', 'another'] : []) {
      await check(`${animal} is added once, however often it is sent`, () => add(post, added));
    }
    let pets: Page = [];
    await check('a list has pages', async () => {
      const first = await get('/v1/pets?limit=1');
      pets = expectPets(first, 1);
      const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1];
      if (!next) {
        expect('two animals were added, but a next page', Boolean(remove), false);
        return `${pets.length} animals, no next page`;
      }
      expect('the address of the next page', next.slice(0, baseUrl.length), baseUrl);
      const { pathname, search } = new URL(next);
      const second = expectPets(await get(`${pathname}${search}`), 1);
      expect('second page after the first', idOf(second) > idOf(pets), true);
      return 'a next page';
    });
    await check('a list is filtered', async () => {
      const sold = expectPets(await get('/v1/pets?status=sold&limit=5'), 5);
      for (const { status } of sold) expect('status', status, 'sold');
      return `${sold.length} sold`;
    });
    await check('one animal is fetched, and that is deprecated', async () => {
      const [pet] = pets;
      const answer = await get(`/v1/pets/${pet?.id ?? NO_PET}`);
      if (pet) expect('animal', [answer.status, answer.body], [200, pet]);
      else expectProblem(answer, 404, 'pet_not_found');
      expect('Deprecation', answer.headers.get('deprecation'), DEPRECATION);
      expect('Sunset', answer.headers.get('sunset'), SUNSET);
      return `status ${answer.status}`;
    });
    await check('the description is served', async () => {
      const answer = await client.send('/v1/openapi.json');
      expect('status', answer.status, 200);
      const { data } = z.object({ openapi: z.string() }).safeParse(answer.body);
      if (!data) throw new Error('it is no OpenAPI document');
      return data.openapi;
    });
    await check('health, once more', () => health(test));
  } catch (error) {
    await remove?.(added).catch((also: Error) => {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`${message}; and ${added.name} is still there: ${also.message}`);
    });
    throw error;
  }
  if (remove) {
    await check('what was added is removed', async () => {
      await remove(added);
      for (const id of added.ids) {
        const { status } = await get(`/v1/pets/${id}`);
        if (status !== 404) throw new Error(`${added.name}, id ${id}, is still there`);
      }
      return `${added.ids.length} animals`;
    });
  }
  return checks;
}

async function health({ client, environment, version }: SmokeTest): Promise<string> {
  const answer = await client.send('/health');
  expect('status', answer.status, 200);
  const found = Health.safeParse(answer.body).data;
  if (!found)
    throw new Error('this is no animal store: the body is not what it says of its health');
  expect('environment', found.environment, environment);
  if (version) expect('version', found.version, version);
  return `version ${found.version}`;
}

type Post = (body: string, headers: Record<string, string>) => Promise<Answer>;

async function add(post: Post, added: Added): Promise<string> {
  const idempotencyKey = randomUUID();
  // Noted before it is sent: an answer may be lost.
  added.idempotencyKeys.push(idempotencyKey);
  const body = JSON.stringify({ name: added.name, categoryId: 1, status: 'sold' });
  const first = await post(body, { 'Idempotency-Key': idempotencyKey });
  expect('status', first.status, 201);
  const id = z.object({ id: z.bigint() }).safeParse(first.body).data?.id;
  if (id === undefined) throw new Error('the answer has no id');
  added.ids.push(id);
  expect('Location', first.headers.get('location')?.endsWith(`/v1/pets/${id}`), true);
  const again = await post(body, { 'Idempotency-Key': idempotencyKey });
  expect('Idempotency-Replayed', again.headers.get('idempotency-replayed'), 'true');
  expect('second answer', again.body, first.body);
  return `id ${id}`;
}

function expectPets(answer: Answer, limit: number): Page {
  expect('status', answer.status, 200);
  expect('Content-Type', answer.headers.get('content-type')?.split(';')[0], 'application/json');
  expect('Cache-Control', answer.headers.get('cache-control'), 'private, no-store');
  expect('X-Content-Type-Options', answer.headers.get('x-content-type-options'), 'nosniff');
  expect('X-Request-Id', answer.headers.has('x-request-id'), true);
  const pets = Pets.safeParse(answer.body);
  if (!pets.success) throw new Error('the body is no array of animals');
  expect('no more than the limit', pets.data.length <= limit, true);
  return pets.data;
}

function expectProblem(answer: Answer, status: number, code: string): void {
  expect('status', answer.status, status);
  expect('code', Problem.safeParse(answer.body).data?.code, code);
}

function expect(what: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new Error(`${what} is ${show(found)}, not ${show(expected)}`);
}

function show(value: unknown): string {
  const exact = (_: string, part: unknown) => (typeof part === 'bigint' ? String(part) : part);
  return JSON.stringify(value, exact) ?? 'missing';
}

function idOf(page: Page): bigint {
  return page[0]?.id ?? 0n;
}
