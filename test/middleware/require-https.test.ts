import { expect, test } from 'vitest';
import { app } from '../../src/app.ts';
import { stopTime } from '../support/in-process.ts';
import { expectError, readReply } from '../support/store.ts';

test.each([
  ['staging', 'GET', '/v1/pets/1'],
  ['production', 'GET', '/health'],
  // A preflight, which permits no key.
  ['production', 'OPTIONS', '/v1/pets'],
])(
  'plain http to %s is a 403 without a redirect, whatever a header says: %s %s',
  async (ENVIRONMENT, method, path) => {
    stopTime();
    const headers = { 'x-forwarded-proto': 'https', forwarded: 'proto=https' };
    const url = `http://store.example${path}?https://a`;
    const response = await app.request(url, { method, headers }, { ENVIRONMENT });
    // As described: without the header Deprecation of getPet.
    const reply = await readReply(method, path, response);
    for (const header of ['location', 'access-control-allow-origin'])
      expect(reply.headers.has(header)).toBe(false);
    const message =
      'Send requests over https. Replace any API key that was sent over http: others may have read it.';
    expectError(reply, 403, 'https_required', message);
  },
);
