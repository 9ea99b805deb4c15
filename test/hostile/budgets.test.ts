/** Clients that have spent a budget: which requests are rejected, and what they no longer reach. */
import { expect, test } from 'vitest';
import { generateKey } from '../../src/auth/keys/format.ts';
import { send } from './client.ts';
import { startServer } from './server.ts';

const server = startServer();

const RATE_LIMITED = { status: 429, code: 'rate_limited' };
const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
const headersWith = (key: string) => ({
  Authorization: `Bearer ${key}`,
  'Content-Type': 'application/json',
});

test('a key that has spent its writes can only read', async () => {
  await server.set({ rejecting: ['WRITE_RATE_LIMITER'] });
  const headers = headersWith(await server.issueKey());
  const created = await send(server.port(), { method: 'POST', headers, body });
  expect(JSON.parse(created.text)).toMatchObject(RATE_LIMITED);
  expect(created.headers.get('retry-after')).toBe('10');
  expect(await server.report()).toMatchObject({ pets: 0, d1: 0 });
  expect((await send(server.port(), { headers })).status).toBe(200);
});

test('a key that has spent its requests does not reach D1', async () => {
  await server.set({ rejecting: ['RATE_LIMITER'] });
  const headers = headersWith(await server.issueKey());
  expect(JSON.parse((await send(server.port(), { headers })).text)).toMatchObject(RATE_LIMITED);
  const created = await send(server.port(), { method: 'POST', headers, body });
  expect(JSON.parse(created.text)).toMatchObject(RATE_LIMITED);
  expect(await server.report()).toMatchObject({ pets: 0, d1: 0 });
});

test('an address that has guessed too many keys is rejected, but its valid keys are not', async () => {
  await server.set({ rejecting: ['ADDRESS_RATE_LIMITER'] });
  const headers = headersWith(generateKey('local'));
  expect(JSON.parse((await send(server.port(), { headers })).text)).toMatchObject(RATE_LIMITED);
  expect(await server.report()).toMatchObject({ d1: 0 });
  const valid = headersWith(await server.issueKey());
  expect((await send(server.port(), { headers: valid })).status).toBe(200);
});
