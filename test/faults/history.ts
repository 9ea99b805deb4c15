/** Histories: what clients sent and received, and whether the model explains it. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { Reply, Store } from '../store.ts';
import type { Fault } from './fault.ts';
import { type Answer, EMPTY, type Operation, run, type State } from './model.ts';

/** An operation, and the faults of its calls of D1. */
export type Step = { operation: Operation; faults?: Fault[] };

/**
 * An operation that a client sent. `sentAt` and `answeredAt` order all events of a history. Without an answer its
 * outcome is unknown.
 */
export type Event = { operation: Operation; answer?: Answer; sentAt: number; answeredAt: number };

/**
 * Whether an order of the operations explains all answers (linearizability): each operation takes effect at one moment
 * between its request and its response. An operation whose outcome is unknown takes effect once at any moment after its
 * request, also after its response, or never. An operation that was refused has no effect, then or later.
 */
export function isExplained(events: Event[]): boolean {
  const seen = new Set<string>();

  function search(state: State, rest: Event[]): boolean {
    const answered = rest.filter(({ answer }) => answer);
    if (answered.length === 0) return true;
    const key = JSON.stringify([state, rest.map((event) => events.indexOf(event))]);
    if (seen.has(key)) return false;
    seen.add(key);
    const firstAnswer = Math.min(...answered.map(({ answeredAt }) => answeredAt));
    return rest.some((event) => {
      if (event.sentAt > firstAnswer) return false;
      const next = structuredClone(state);
      const answer = run(next, event.operation);
      const isPossible = event.answer
        ? isDeepStrictEqual(answer, event.answer)
        : !isDeepStrictEqual(next, state);
      const others = rest.filter((other) => other !== event);
      return isPossible && search(next, others);
    });
  }

  return search(EMPTY, events);
}

/** Reads everything in the store. */
export const READ_ALL: Step[] = [
  { operation: { name: 'listPets', account: 0 } },
  { operation: { name: 'listOrders', account: 0 } },
];

/** Sends the operations of one client after another, and notes them in `events`. */
export async function perform(
  store: Store,
  apiKeys: string[],
  steps: Step[],
  events: Event[],
  client?: number,
): Promise<void> {
  for (const { operation, faults } of steps) {
    const event: Event = { operation, sentAt: performance.now(), answeredAt: Infinity };
    events.push(event);
    const [method, path] = requestOf(operation);
    const reply = await store.fetch(path, {
      method,
      headers: {
        authorization: `Bearer ${apiKeys[operation.account]}`,
        'content-type': 'application/json',
        'idempotency-key': ('key' in operation && operation.key) || null,
        'x-client': client === undefined ? null : String(client),
        'x-d1-faults': faults ? JSON.stringify(faults) : null,
      },
      ...('body' in operation && { body: JSON.stringify(operation.body) }),
    });
    event.answeredAt = performance.now();
    if (reply.status === 503) continue;
    expect(reply.status, reply.text).toBeLessThan(500);
    event.answer = answerOf(reply);
  }
}

/** The method and the path of an operation. */
function requestOf(operation: Operation): [method: string, path: string] {
  switch (operation.name) {
    case 'listPets':
      return ['GET', '/v1/pets?limit=100'];
    case 'createPet':
      return ['POST', '/v1/pets'];
    case 'updatePet':
      return ['PATCH', `/v1/pets/${operation.petId}`];
    case 'deletePet':
      return ['DELETE', `/v1/pets/${operation.petId}`];
    case 'listOrders':
      return ['GET', '/v1/store/orders?limit=100'];
    case 'placeOrder':
      return ['POST', '/v1/store/orders'];
    case 'updateOrder':
      return ['PATCH', `/v1/store/orders/${operation.orderId}`];
  }
}

/** Leaves out what the model does not predict: the time of an order, and all of an error but its code. */
function answerOf({ status, headers, text }: Reply): Answer {
  const withoutTime = (name: string, value: unknown) => (name === 'placedAt' ? undefined : value);
  const body = text === '' ? undefined : JSON.parse(text, withoutTime);
  // All items fit on one page.
  expect(headers.get('link') ?? '').not.toContain('rel="next"');
  const location = headers.get('location');
  return {
    status,
    body: status < 400 ? body : { code: body.code },
    ...(location && { location: new URL(location).pathname }),
    ...(headers.has('idempotency-replayed') && { replayed: true }),
  };
}
