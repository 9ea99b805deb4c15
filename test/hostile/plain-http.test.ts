/** Outside the local environment, a request over plain http is rejected before its key is checked. */
import { describe, expect, test } from 'vitest';
import { generateKey } from '../../src/auth/keys/format.ts';
import { send } from './client.ts';
import { startServer } from './server.ts';

const server = startServer('staging');

const list = (scheme: string, authorization: Record<string, string>) =>
  send(server.port(), { headers: { 'X-Forwarded-Proto': scheme, ...authorization } });

describe('over http the response is https_required', () => {
  test.each([
    ['to a valid key', async () => ({ Authorization: `Bearer ${await server.issueKey()}` })],
    ['to a revoked key', async () => ({ Authorization: `Bearer ${await revokedKey()}` })],
    ['to an unknown key', async () => ({ Authorization: `Bearer ${generateKey('staging')}` })],
    ['to a malformed key', async () => ({ Authorization: 'Bearer x' })],
    ['without a key', async () => ({})],
  ])('%s', async (_, authorization) => {
    const { status, headers, text } = await list('http', await authorization());
    expect(JSON.parse(text)).toEqual({
      code: 'https_required',
      message: expect.any(String),
      status: 403,
    });
    expect(status).toBe(403);
    expect(headers.has('location')).toBe(false);
    expect(await server.report()).toMatchObject({ requests: 1, kvReads: 0, d1: 0, limits: {} });
  });

  test('with the same body for every request', async () => {
    const valid = await list('http', { Authorization: `Bearer ${await server.issueKey()}` });
    const missing = await list('http', {});
    expect(valid.text).toBe(missing.text);
    expect([...valid.headers.keys()]).toEqual([...missing.headers.keys()]);
    expect(valid.text).toContain('https_required');
  });

  test('to a preflight: the browser then never sends the key', async () => {
    const headers = {
      'X-Forwarded-Proto': 'http',
      Origin: 'https://shop.example',
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'authorization',
    };
    const { status, text } = await send(server.port(), { method: 'OPTIONS', headers });
    expect([status, JSON.parse(text).code]).toEqual([403, 'https_required']);
  });

  test('to a create, which adds nothing', async () => {
    const headers = {
      'X-Forwarded-Proto': 'http',
      Authorization: `Bearer ${await server.issueKey()}`,
      'Content-Type': 'application/json',
    };
    const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
    const { text } = await send(server.port(), { method: 'POST', headers, body });
    expect(text).toContain('https_required');
    expect(await server.report()).toMatchObject({ pets: 0 });
  });
});

test('over https the key is checked', async () => {
  const valid = { Authorization: `Bearer ${await server.issueKey()}` };
  expect((await list('https', valid)).status).toBe(200);
  expect((await list('https', {})).status).toBe(401);
});

function revokedKey(): Promise<string> {
  return server.issueKey({ revokedAt: '2026-11-20T00:00:00Z' });
}
