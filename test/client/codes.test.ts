/** Every error code of the description, from the real store. A new code without a case does not compile. */
import { beforeEach, expect, test } from 'vitest';
import {
  type AnimalStore,
  createAnimalStore,
  type ServiceErrorCode,
  type StoreOptions,
} from '../../client/src/index.ts';
import type { D1Fault } from '../faults/d1.ts';
import { startStore } from '../store.ts';
import { README } from './documents.ts';
import { problem, REX } from './fake.ts';

const server = startStore({ faults: true });
let connect: (options?: Partial<StoreOptions>) => AnimalStore;

beforeEach(async () => {
  const defaults = { baseUrl: `${server.url()}/v1`, apiKey: await server.issueKey() };
  connect = (options) => createAnimalStore({ ...defaults, maxAttempts: 1, ...options });
});

/** A client that changes its requests. */
const sending = (change: (init: RequestInit) => RequestInit) =>
  connect({ fetch: (input, init = {}) => fetch(input, { ...init, ...change(init) }) });

async function placedOrder(): Promise<bigint> {
  await connect().createPet(REX);
  return (await connect().placeOrder({ petId: 1n })).id;
}

const createWithKey = async (record: Parameters<typeof server.issueKey>[0]) =>
  connect({ apiKey: await server.issueKey(record) }).createPet(REX);

async function createWithFault(fault: D1Fault) {
  await server.fault({ d1: [fault] });
  return connect().createPet(REX);
}

const CASES: Record<ServiceErrorCode, () => Promise<unknown>> = {
  invalid_json: () => sending(() => ({ body: '{' })).createPet(REX),
  invalid_request: () => connect().createPet({ ...REX, name: '' }),
  missing_api_key: () => sending(() => ({ headers: {} })).getPet(1n),
  invalid_api_key: () => connect({ apiKey: 'no-key' }).getPet(1n),
  expired_api_key: () => createWithKey({ expiresAt: '2026-11-01T00:00:00Z' }),
  revoked_api_key: () => createWithKey({ revokedAt: '2026-11-01T00:00:00Z' }),
  insufficient_scope: () => createWithKey({ scopes: ['read'] }),
  // The local store accepts http: this is the response of the other environments.
  https_required: () =>
    connect({ fetch: async () => problem(403, 'https_required')() }).getHealth(),
  not_found: () => connect({ baseUrl: `${server.url()}/v1/nothing` }).getHealth(),
  pet_not_found: () => connect().getPet(7n),
  order_not_found: () => connect().getOrder(7n),
  method_not_allowed: () => sending(() => ({ method: 'PUT' })).updatePet(7n, { name: 'Max' }),
  pet_not_available: async () => {
    await placedOrder();
    return connect().placeOrder({ petId: 1n });
  },
  pet_has_open_order: async () => {
    await placedOrder();
    return connect().deletePet(1n);
  },
  invalid_transition: async () =>
    connect().updateOrder(await placedOrder(), { status: 'delivered' }),
  body_too_large: () => connect().createPet({ ...REX, name: 'x'.repeat(20_000) }),
  unsupported_media_type: () =>
    sending(({ headers }) => {
      const changed = new Headers(headers);
      changed.set('Content-Type', 'text/plain');
      return { headers: changed };
    }).createPet(REX),
  idempotency_key_reused: async () => {
    await connect().createPet(REX, { idempotencyKey: 'k' });
    return connect().createPet({ ...REX, name: 'Max' }, { idempotencyKey: 'k' });
  },
  rate_limited: async () => {
    await server.fault({ limited: 'WRITE_RATE_LIMITER' });
    for (let i = 0; i < 100; i += 1) await connect().createPet(REX);
  },
  internal_error: () => createWithFault('is full'),
  service_unavailable: () => createWithFault('is overloaded'),
};

test.each(Object.entries(CASES))('%s is a StoreError with this code', async (code, call) => {
  await expect(call()).rejects.toMatchObject({
    name: 'StoreError',
    code,
    requestId: expect.any(String),
    body: { code, message: expect.any(String), status: expect.any(Number) },
  });
});

test('README.md lists these codes, in this order', () => {
  const [, list = ''] = /`code` is one of the store \((.*?)\)/s.exec(README) ?? [];
  expect(Array.from(list.matchAll(/`(\w+)`/g), ([, code]) => code)).toEqual(Object.keys(CASES));
});
