/**
 * The smoke test: a client's view of a store. In production it only reads, and a key with the scope `read` is
 * enough; the way to write is tried with a create that must be refused. Elsewhere it also writes, and removes
 * what it added.
 */
import * as z from 'zod';
import { Orders } from '../../src/orders/responses.ts';
import { DEPRECATION, SUNSET } from '../../src/pets/deprecation.ts';
import { Pets } from '../../src/pets/responses.ts';
import type { Answer, Client } from './client.ts';
import { codeOf, expect, expectPage, expectProblem } from './expect.ts';
import {
  type Added,
  addPets,
  deletePets,
  nothingAdded,
  orderPets,
  type Requests,
  type RunCheck,
} from './smoke-writes.ts';

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

export type Check = { check: string; result: string };

/** An id that no store gives out. */
const NO_ID = '-9223372036854775808';

export const Health = z.object({
  status: z.literal('ok'),
  environment: z.string(),
  version: z.string(),
});
const Description = z.object({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) });

/**
 * Runs the checks in order and returns what each has seen.
 *
 * @throws Error naming the check that failed, what was expected and what came.
 */
export async function smokeTest(test: SmokeTest): Promise<Check[]> {
  const { client, baseUrl, remove } = test;
  const store = requestsOf(test);
  const checks: Check[] = [];
  const check: RunCheck = async (name, run) => {
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
    expectProblem(await store.get('/v1/pets?limit=0'), 400, 'invalid_request');
    return 'invalid_request';
  });
  await check('a wrong animal is refused', async () => {
    const answer = await store.send('POST', '/v1/pets', '{}');
    // A key that cannot write is enough where nothing is written.
    const isReadOnly = !remove && codeOf(answer) === 'insufficient_scope';
    if (isReadOnly) expect('status', answer.status, 403);
    else expectProblem(answer, 400, 'invalid_request');
    return isReadOnly ? 'insufficient_scope: the key cannot write' : 'invalid_request';
  });
  // A rollback can lead to a version that has no orders.
  let hasOrders = false;
  await check('the description is served', async () => {
    const answer = await client.send('/v1/openapi.json');
    expect('status', answer.status, 200);
    const { data } = Description.safeParse(answer.body);
    if (!data) throw new Error('it is no OpenAPI document');
    hasOrders = '/store/orders' in data.paths;
    return `${data.openapi}, ${hasOrders ? 'with' : 'without'} orders`;
  });

  const added = nothingAdded();
  try {
    if (remove) await addPets(store, check, added);
    if (remove && hasOrders) await orderPets(store, check, added);
    const list = { store, check, baseUrl, hasSeveral: Boolean(remove) };
    const pet = await checkList({ ...list, path: '/v1/pets', schema: Pets, filter: 'sold' });
    await check('one animal is fetched, and that is deprecated', async () => {
      const answer = await store.get(`/v1/pets/${pet?.id ?? NO_ID}`);
      if (pet) expect('animal', [answer.status, answer.body], [200, pet]);
      else expectProblem(answer, 404, 'pet_not_found');
      expect('Deprecation', answer.headers.get('deprecation'), DEPRECATION);
      expect('Sunset', answer.headers.get('sunset'), SUNSET);
      return `status ${answer.status}`;
    });
    if (hasOrders) {
      const path = '/v1/store/orders';
      const order = await checkList({ ...list, path, schema: Orders, filter: 'cancelled' });
      await check('one order is fetched', async () => {
        const answer = await store.get(`${path}/${order?.id ?? NO_ID}`);
        if (order) expect('id of the order', [answer.status, idOf(answer)], [200, order.id]);
        else expectProblem(answer, 404, 'order_not_found');
        return `status ${answer.status}`;
      });
    }
    if (remove && hasOrders) await deletePets(store, check, added);
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
      const paths = [
        ...added.petIds.map((id) => `/v1/pets/${id}`),
        ...added.orderIds.map((id) => `/v1/store/orders/${id}`),
      ];
      for (const path of paths) {
        const { status } = await store.get(path);
        if (status !== 404) throw new Error(`${path}, of ${added.name}, is still there`);
      }
      return `${added.petIds.length} animals, ${added.orderIds.length} orders`;
    });
  }
  return checks;
}

function requestsOf({ client, apiKey }: SmokeTest): Requests {
  const authorization = { Authorization: `Bearer ${apiKey}` };
  const json = { ...authorization, 'Content-Type': 'application/json' };
  return {
    get: (path) => client.send(path, { headers: authorization }),
    send: (method, path, body, headers) =>
      client.send(path, {
        method,
        headers: { ...(body === undefined ? authorization : json), ...headers },
        ...(body !== undefined && { body }),
      }),
  };
}

type List<Item> = {
  store: Requests;
  check: RunCheck;
  baseUrl: string;
  /** Whether there must be more than one item. */
  hasSeveral: boolean;
  path: string;
  schema: z.core.$ZodType<Item[]>;
  filter: string;
};

/** Checks the pages and the filter of a list, and returns its first item. */
async function checkList<Item extends { id: bigint; status?: string | undefined }>(
  list: List<Item>,
): Promise<Item | undefined> {
  const { store, check, baseUrl, hasSeveral, path, schema, filter } = list;
  let item: Item | undefined;
  await check(`${path} has pages`, async () => {
    const first = await store.get(`${path}?limit=1`);
    [item] = expectPage(first, schema, 1);
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1];
    if (!next) {
      expect('two were added, but a next page', hasSeveral, false);
      return `${item ? 'one item' : 'no items'}, no next page`;
    }
    expect('the address of the next page', next.slice(0, baseUrl.length), baseUrl);
    const { pathname, search } = new URL(next);
    const [second] = expectPage(await store.get(`${pathname}${search}`), schema, 1);
    expect('second page after the first', second && item && second.id > item.id, true);
    return 'a next page';
  });
  await check(`${path} is filtered`, async () => {
    const answer = await store.get(`${path}?status=${filter}&limit=5`);
    const items = expectPage(answer, schema, 5);
    for (const { status } of items) expect('status', status, filter);
    return `${items.length} ${filter}`;
  });
  return item;
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

function idOf({ body }: Answer): bigint | undefined {
  return z.object({ id: z.bigint() }).safeParse(body).data?.id;
}
