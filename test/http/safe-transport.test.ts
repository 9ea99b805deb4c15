/** The key of the local environment is public, so only pages of the loopback host may use it. */
import { expect, test } from 'vitest';
import { errorOf } from '../contract.ts';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

const store = startStore();
/** A request that reached D1 would be a 503. */
const send = startApp(store);
const staging = startStore({ env: 'staging' });

const LOOPBACK = [
  ...['http://localhost', 'http://localhost:5173', 'https://shop.localhost:8443'],
  ...['http://127.0.0.1:3000', 'http://127.8.9.10', 'http://[::1]:8080'],
];
const FOREIGN = [
  ...['https://evil.example', 'http://localhost.evil.example', 'http://evillocalhost'],
  ...['http://127.0.0.1.evil.example', 'http://128.0.0.1', 'http://[::2]'],
];
const BODY = '{"name":"Rex","categoryId":1}';

test.each(LOOPBACK)('a page at %s may use the local store', async (origin) => {
  const reply = await store.create(BODY, { headers: { origin } });
  expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([201, '*']);
});

test.each([...FOREIGN, 'ftp://localhost', 'null'])(
  'a page at %s may not use the local store',
  async (origin) => {
    const { headers, body } = await send('OPTIONS', '/v1/pets', undefined, { origin });
    expect(errorOf(body)).toBe(
      '400 invalid_request: Origin: must be on the loopback host, such as http://localhost:5173, in the local environment',
    );
    expect(headers.has('access-control-allow-origin')).toBe(false);
  },
);

test('staging accepts pages of any origin', async () => {
  const headers = { origin: 'https://shop.example' };
  expect((await staging.fetch('/v1/pets', { headers })).status).toBe(200);
});
