import { beforeEach, describe, expect, test } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import { generateKey } from '../../src/auth/keys/format.ts';
import { networksOf } from '../../src/auth/rate-limit.ts';
import { SMALL_LIMIT as LIMIT } from '../server.ts';
import { type Reply, startStore } from '../store.ts';

const store = startStore({ faults: true });

/** More than two windows allow, so that some requests are rejected even if a new window starts in between. */
const TOO_MANY = 2 * LIMIT + 1;

function expectLimited({ status, headers, body }: Reply): void {
  expect(status).toBe(429);
  expect(headers.get('retry-after')).toBe('10');
  expect(body).toEqual({ code: 'rate_limited', message: expect.any(String), status: 429 });
}

describe('the limit of a key', () => {
  const limited = 'RATE_LIMITER';
  beforeEach(() => store.fault({ limited }));

  async function statuses(key: string, path = '/v1/pets', method = 'GET'): Promise<number[]> {
    const headers = { authorization: `Bearer ${key}` };
    const replies: Reply[] = [];
    for (let i = 0; i < TOO_MANY; i += 1)
      replies.push(await store.fetch(path, { method, headers }));
    for (const reply of replies.filter(({ status }) => status === 429)) expectLimited(reply);
    return replies.map(({ status }) => status);
  }

  test('applies to that key only', async () => {
    const [one, other] = [await store.issueKey({ id: 'one' }), await store.issueKey()];
    const found = await statuses(one);
    expect(found.slice(0, LIMIT)).toEqual(Array(LIMIT).fill(200));
    expect(found).toContain(429);
    const reply = await store.fetch('/v1/pets', { headers: { authorization: `Bearer ${other}` } });
    expect(reply.status).toBe(200);
    const lines = (await store.logLines()).filter(({ status }) => status === 429);
    expect(lines[0]).toMatchObject({ code: 'rate_limited', keyId: 'one' });
  });

  test.each([
    ['GET', '/v1/pets/1'],
    ['POST', '/v1/pets'],
  ])('counts invalid requests: %s %s', async (method, path) => {
    expect(await statuses(await store.issueKey(), path, method)).toContain(429);
  });

  test('does not count requests with an inactive key', async () => {
    const key = await store.issueKey({ revokedAt: '2026-11-20T00:00:00Z' });
    expect(new Set(await statuses(key))).toEqual(new Set([401]));
  });

  test.each([
    ['throws', 'limiter unavailable'],
    ['hangs', 'The rate limiter did not respond within 500 ms'],
  ] as const)('does not apply while the limiter %s, which is logged', async (limiters, cause) => {
    await store.fault({ limited, limiters });
    expect(new Set(await statuses(await store.issueKey()))).toEqual(new Set([200]));
    const logged = { limiterFailures: [`RATE_LIMITER: Error: ${cause}`] };
    expect(await store.logLines()).toEqual(Array(TOO_MANY).fill(expect.objectContaining(logged)));
  });
});

describe('the limit of writes', () => {
  const limited = 'WRITE_RATE_LIMITER';
  beforeEach(() => store.fault({ limited }));

  test('applies to the writes of a key, not to its reads or to other keys', async () => {
    const authorization = `Bearer ${await store.issueKey({ id: 'writer' })}`;
    const create = (headers = {}) => store.create({ name: 'Rex', categoryId: 1 }, { headers });
    const replies: Reply[] = [];
    for (let i = 0; i < TOO_MANY; i += 1) replies.push(await create({ authorization }));
    const statuses = replies.map(({ status }) => status);
    expect(statuses.slice(0, LIMIT)).toEqual(Array(LIMIT).fill(201));
    expect(statuses).toContain(429);
    for (const reply of replies.filter(({ status }) => status !== 201)) expectLimited(reply);
    for (let i = 0; i < TOO_MANY; i += 1) {
      expect((await store.fetch('/v1/pets', { headers: { authorization } })).status).toBe(200);
    }
    expect((await create()).status).toBe(201);
  });

  test.each([
    ['updatePet', 'PATCH', '/v1/pets/77', 404],
    ['deletePet', 'DELETE', '/v1/pets/77', 404],
    ['placeOrder', 'POST', '/v1/store/orders', 400],
    ['updateOrder', 'PATCH', '/v1/store/orders/77', 400],
  ])('counts %s', async (_, method, path, status) => {
    const headers = { authorization: `Bearer ${await store.issueKey()}` };
    const replies: Reply[] = [];
    for (let i = 0; i < TOO_MANY; i += 1) {
      replies.push(await store.send(method, path, { name: 'Max' }, { headers }));
    }
    expect(replies.slice(0, LIMIT).map((reply) => reply.status)).toEqual(Array(LIMIT).fill(status));
    const limited = replies.filter((reply) => reply.status !== status);
    expect(limited).not.toEqual([]);
    for (const reply of limited) expectLimited(reply);
  });
});

describe('the limit of an address', () => {
  const limited = 'ADDRESS_RATE_LIMITER';
  beforeEach(() => store.fault({ limited }));

  function guess(address: string | null, key = generateKey('local')): Promise<Reply> {
    return store.fetch('/v1/pets', {
      headers: {
        authorization: `Bearer ${key}`,
        ...(address ? { 'cf-connecting-ip': address } : { 'x-no-address': '1' }),
      },
    });
  }

  /** Uses up the limit of an address with guessed keys. */
  async function exhaust(address: string | null): Promise<void> {
    const replies: Reply[] = [];
    for (let i = 0; i < TOO_MANY; i += 1) replies.push(await guess(address));
    for (const reply of replies.filter(({ status }) => status !== 401)) expectLimited(reply);
    expect(replies.slice(0, LIMIT - 1).map(({ status }) => status)).not.toContain(429);
    expect(replies.map(({ status }) => status)).toContain(429);
  }

  test('applies to that address only', async () => {
    await exhaust('192.0.2.1');
    expect((await guess('192.0.2.2')).status).toBe(401);
  });

  test('is shared by all addresses of a /64', async () => {
    const replies = await Promise.all(
      Array.from({ length: TOO_MANY }, (_, i) => guess(`2001:DB8::1:${i}:0:0:1`)),
    );
    expect(replies.map(({ status }) => status)).toContain(429);
    expect((await guess('2001:db8:1::1')).status).toBe(401);
  });

  test('is shared by all networks of a /48', async () => {
    const replies = await Promise.all(
      Array.from({ length: TOO_MANY }, (_, i) => guess(`2001:DB8:7:${i}:0:0:0:1`)),
    );
    expect(replies.map(({ status }) => status)).toContain(429);
    expect((await guess('2001:db8:8::1')).status).toBe(401);
  });

  test.each([
    ['revoked', '192.0.2.4', { revokedAt: '2026-11-20T00:00:00Z' }],
    ['expired', '192.0.2.5', { expiresAt: '2026-11-20T00:00:00Z' }],
  ])('counts requests with a key that is %s', async (_, address, record) => {
    const key = await store.issueKey(record);
    const replies: Reply[] = [];
    for (let i = 0; i < TOO_MANY; i += 1) replies.push(await guess(address, key));
    expect(replies[0]?.status).toBe(401);
    expect(replies.map(({ status }) => status)).toContain(429);
  });

  test('does not apply to a valid key that the isolate has never seen', async () => {
    await exhaust('192.0.2.6');
    const key = await store.issueKey();
    expect((await guess('192.0.2.6', key)).status).toBe(200);
  });

  test('is shared by all requests without an address', async () => {
    await exhaust(null);
  });

  test('does not apply to a key that the isolate has cached', async () => {
    const key = await store.issueKey();
    expect((await guess('192.0.2.3', key)).status).toBe(200);
    await exhaust('192.0.2.3');
    for (let i = 0; i < TOO_MANY; i += 1) expect((await guess('192.0.2.3', key)).status).toBe(200);
    await store.fault({ limited, ahead: 11_000 });
    expect((await guess('192.0.2.3', key)).status).toBe(200);
  });
});

describe('networksOf', () => {
  test.each([
    ['192.0.2.1', ['192.0.2.1']],
    ['', ['']],
    ['not an address', ['not an address']],
    ['2001:db8:1:2:3:4:5:6', ['2001:db8:1:2::/64', '2001:db8:1::/48']],
    ['2001:DB8:0001:0002::', ['2001:db8:1:2::/64', '2001:db8:1::/48']],
    ['2001:db8::1', ['2001:db8:0:0::/64', '2001:db8:0::/48']],
    ['2001:db8::3:4:5:6', ['2001:db8:0:0::/64', '2001:db8:0::/48']],
    ['::1', ['0:0:0:0::/64', '0:0:0::/48']],
    ['::', ['0:0:0:0::/64', '0:0:0::/48']],
    ['1:2:3:4:5:6:7::', ['1:2:3:4::/64', '1:2:3::/48']],
    ['::ffff:192.0.2.1', ['192.0.2.1']],
  ])('of %j is %j', (address, expected) => expect(networksOf(address)).toEqual(expected));
});

test.each(['local', 'staging', 'production'])('the periods of %s match Retry-After', (env) => {
  const { ratelimits } = readConfig({ config: 'wrangler.toml', ...(env !== 'local' && { env }) });
  const periods = (ratelimits as { simple: { period: number } }[]).map(
    ({ simple }) => simple.period,
  );
  expect(periods).toEqual([10, 10, 10]);
});
