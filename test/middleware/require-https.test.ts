import { expect, test } from 'vitest';
import { app } from '../../src/app.ts';
import { stopTime } from '../support/in-process.ts';
import { expectError, readReply } from '../support/store.ts';

test.each([
  ['staging', '/v1/pets/1'],
  ['production', '/health'],
])(
  'plain http to %s%s is a 403 without a redirect, whatever a header says',
  async (ENVIRONMENT, path) => {
    stopTime();
    const headers = { 'x-forwarded-proto': 'https', forwarded: 'proto=https' };
    const url = `http://store.example${path}`;
    const response = await app.request(url, { headers }, { ENVIRONMENT });
    // As described: without the header Deprecation of getPet.
    const reply = await readReply('GET', path, response);
    expect(reply.headers.has('location')).toBe(false);
    const message =
      'Send requests over https. Replace any API key that was sent over http: others may have read it.';
    expectError(reply, 403, 'https_required', message);
  },
);

test('a preflight over http permits no key', async () => {
  stopTime();
  const headers = { origin: 'https://shop.example', 'access-control-request-method': 'GET' };
  const preflight = new Request('http://store.example/v1/pets', { method: 'OPTIONS', headers });
  const reply = await app.request(preflight, {}, { ENVIRONMENT: 'production' });
  expect([reply.status, reply.headers.has('access-control-allow-origin')]).toEqual([403, false]);
});
