/** Clients that have spent a budget: which requests are rejected, and what they no longer reach. */
import { expect, test } from 'vitest';
import { generateKey } from '../../src/keys/format.ts';
import { send } from './client.ts';
import { startRig } from './rig.ts';

const rig = startRig();

const RATE_LIMITED = { status: 429, code: 'rate_limited' };
const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
const headersWith = (key: string) => ({
  Authorization: `Bearer ${key}`,
  'Content-Type': 'application/json',
});

test('a key that has spent its writes can only read', async () => {
  await rig.set({ refusing: ['WRITE_RATE_LIMITER'] });
  const headers = headersWith(await rig.issueKey());
  const created = await send(rig.port(), { method: 'POST', headers, body });
  expect(JSON.parse(created.text)).toMatchObject(RATE_LIMITED);
  expect(created.headers.get('retry-after')).toBe('10');
  expect(await rig.report()).toMatchObject({ animals: 0, d1: 0 });
  expect((await send(rig.port(), { headers })).status).toBe(200);
});

test('a key that has spent its requests does not reach D1', async () => {
  await rig.set({ refusing: ['RATE_LIMITER'] });
  const headers = headersWith(await rig.issueKey());
  expect(JSON.parse((await send(rig.port(), { headers })).text)).toMatchObject(RATE_LIMITED);
  const created = await send(rig.port(), { method: 'POST', headers, body });
  expect(JSON.parse(created.text)).toMatchObject(RATE_LIMITED);
  expect(await rig.report()).toMatchObject({ animals: 0, d1: 0 });
});

test('an address that has guessed too many keys is rejected, but its valid keys are not', async () => {
  await rig.set({ refusing: ['ADDRESS_RATE_LIMITER'] });
  const headers = headersWith(generateKey('local'));
  expect(JSON.parse((await send(rig.port(), { headers })).text)).toMatchObject(RATE_LIMITED);
  expect(await rig.report()).toMatchObject({ d1: 0 });
  const valid = headersWith(await rig.issueKey());
  expect((await send(rig.port(), { headers: valid })).status).toBe(200);
});
