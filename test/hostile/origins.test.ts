/** Pages of foreign origins that call a developer's local store, and responses that no cache may store. */
import { beforeEach, describe, expect, test } from 'vitest';
import { send } from './client.ts';
import { startServer } from './server.ts';

const server = startServer();

let headers: Record<string, string> = {};
beforeEach(async () => {
  const key = await server.issueKey();
  headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
});

const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
const createFrom = (Origin: string) =>
  send(server.port(), { method: 'POST', headers: { ...headers, Origin }, body });
const preflightFrom = (Origin: string) =>
  send(server.port(), {
    method: 'OPTIONS',
    headers: { Origin, 'Access-Control-Request-Method': 'POST' },
  });

describe('a page of a foreign origin can do nothing with the local store', () => {
  const foreign = [
    'https://evil.example',
    'http://localhost.evil.example',
    'http://evil.example:5173',
    'http://127.0.0.1.evil.example',
    'http://evil.example/http://localhost',
    'http://localhost@evil.example',
    'http://evillocalhost:5173',
    'http://[::2]:8080',
    'null',
  ];

  test.each(foreign)('%s', async (origin) => {
    const { status, headers: answered, text } = await createFrom(origin);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toEqual({
      code: 'invalid_request',
      message: expect.any(String),
      status: 400,
    });
    expect(corsHeaders(answered)).toEqual([]);
    expect(await server.report()).toMatchObject({ d1: 0, pets: 0 });
  });

  test.each(foreign)('with a preflight: %s', async (origin) => {
    expect(corsHeaders((await preflightFrom(origin)).headers)).toEqual([]);
  });
});

describe('a page of a loopback origin can use the local store', () => {
  test.each([
    'http://localhost:5173',
    'http://localhost',
    'http://127.0.0.1:3000',
    'http://[::1]:8080',
  ])('%s', async (origin) => {
    const { status, headers: answered } = await createFrom(origin);
    expect(status).toBe(201);
    expect(['*', origin]).toContain(answered.get('access-control-allow-origin'));
    const preflight = await preflightFrom(origin);
    expect(preflight.status).toBe(204);
    expect(['*', origin]).toContain(preflight.headers.get('access-control-allow-origin'));
  });

  test('a client without an Origin', async () => {
    expect((await send(server.port(), { method: 'POST', headers, body })).status).toBe(201);
  });
});

describe('no cache stores', () => {
  test.each([
    ['a 404', { path: '/v1/nothing' }, 404],
    ['a 405', { method: 'PUT' }, 405],
    ['a 401', {}, 401],
  ])('%s', async (_, sent, status) => {
    const answer = await send(server.port(), sent);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('cache-control')).toEqual(expect.stringContaining('no-store'));
  });
});

function corsHeaders(headers: Headers): string[] {
  return [...headers.keys()].filter((name) => name.startsWith('access-control-'));
}
