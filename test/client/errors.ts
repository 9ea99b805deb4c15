/** Every error code of the description, from the real store. A new code without a case does not compile. */
import type { ServiceErrorCode, StoreErrorCode } from '../../client/src/index.ts';
import {
  answering,
  type Behaviour,
  type Context,
  errorAnswer,
  expectEqual,
  type Fetch,
  failureOf,
} from './context.ts';

const REX = { name: 'Rex', categoryId: 1n, status: 'available' } as const;

/** A fetch that changes the request. */
function sending(change: RequestInit, headers: Record<string, string | null> = {}): Fetch {
  return (input, init) => {
    const changed = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) {
      if (value === null) changed.delete(name);
      else changed.set(name, value);
    }
    return fetch(input, { ...init, ...change, headers: changed });
  };
}

async function withOrder(c: Context) {
  const store = c.connect();
  await store.createPet(REX);
  const { id } = await store.placeOrder({ petId: 1n });
  return { store, id };
}

const CASES: Record<ServiceErrorCode, (c: Context) => Promise<unknown>> = {
  invalid_json: async (c) => c.connect({ fetch: sending({ body: '{' }) }).createPet(REX),
  invalid_request: async (c) => c.connect().createPet({ ...REX, name: '' }),
  missing_api_key: async (c) =>
    c.connect({ fetch: sending({}, { Authorization: null }) }).createPet(REX),
  invalid_api_key: async (c) => c.connect({ apiKey: 'no-key' }).createPet(REX),
  expired_api_key: async (c) => {
    const apiKey = await c.issueKey({ expiresAt: '2026-11-01T00:00:00Z' });
    return c.connect({ apiKey }).listPets().page();
  },
  revoked_api_key: async (c) => {
    const apiKey = await c.issueKey({ revokedAt: '2026-11-01T00:00:00Z' });
    return c.connect({ apiKey }).listPets().page();
  },
  insufficient_scope: async (c) => {
    const apiKey = await c.issueKey({ scopes: ['read'] });
    return c.connect({ apiKey }).createPet(REX);
  },
  // The local store accepts http: this is the response of the other environments.
  https_required: async (c) =>
    c.connect({ fetch: answering(errorAnswer('https_required', 403)) }).createPet(REX),
  not_found: async (c) =>
    c
      .connect({ baseUrl: `${c.baseUrl}/nothing` })
      .listPets()
      .page(),
  pet_not_found: async (c) => c.connect().getPet(7n),
  order_not_found: async (c) => c.connect().getOrder(7n),
  method_not_allowed: async (c) =>
    c.connect({ fetch: sending({ method: 'PUT' }) }).updatePet(7n, { name: 'Max' }),
  pet_not_available: async (c) => {
    const { store } = await withOrder(c);
    return store.placeOrder({ petId: 1n });
  },
  pet_has_open_order: async (c) => {
    const { store } = await withOrder(c);
    return store.deletePet(1n);
  },
  invalid_transition: async (c) => {
    const { store, id } = await withOrder(c);
    return store.updateOrder(id, { status: 'delivered' });
  },
  body_too_large: async (c) => c.connect().createPet({ ...REX, name: 'x'.repeat(20_000) }),
  unsupported_media_type: async (c) =>
    c.connect({ fetch: sending({}, { 'Content-Type': 'text/plain' }) }).createPet(REX),
  idempotency_key_reused: async (c) => {
    await c.connect().createPet(REX, { idempotencyKey: 'k' });
    return c.connect().createPet({ ...REX, name: 'Max' }, { idempotencyKey: 'k' });
  },
  rate_limited: async (c) => {
    const store = c.connect({ maxAttempts: 1 });
    await c.fault({ limited: 'WRITE_RATE_LIMITER' });
    for (let i = 0; i < 100; i += 1) await store.createPet(REX);
  },
  internal_error: async (c) => {
    await c.fault({ d1: ['is full'] });
    return c.connect({ maxAttempts: 1 }).createPet(REX);
  },
  service_unavailable: async (c) => {
    await c.fault({ d1: ['is overloaded'] });
    return c.connect({ maxAttempts: 1 }).createPet(REX);
  },
};

/** Does not compile if a code is missing: then `code` is not `never` at the end. */
function isOfTheStore(code: StoreErrorCode): boolean {
  switch (code) {
    case 'network_error':
    case 'deadline_exceeded':
    case 'aborted':
    case 'invalid_response':
      return false;
    default:
      code satisfies ServiceErrorCode;
      return true;
  }
}

export const errors: Record<string, Behaviour> = Object.fromEntries(
  Object.entries(CASES).map(([code, call]) => [
    `${code} is a StoreError with this code`,
    async (c: Context) => {
      const failure = await failureOf(c, call(c));
      expectEqual([failure.code, isOfTheStore(failure.code)], [code, true]);
      expectEqual(failure.status, failure.metadata?.status);
      expectEqual(failure.message.length > 0, true);
      if (code !== 'https_required') expectEqual(failure.requestId?.length, 36);
    },
  ]),
);
