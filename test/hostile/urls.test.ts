/** URLs that are too long, and the length of the messages about them. */
import { beforeEach, describe, expect, test } from 'vitest';
import { type Answer, send } from './client.ts';
import { startServer } from './server.ts';

const server = startServer();

let headers: Record<string, string> = {};
beforeEach(async () => {
  headers = { Authorization: `Bearer ${await server.issueKey()}` };
});

const get = (path: string): Promise<Answer> => send(server.port(), { path, headers });

/** As many different parameters as fit into `size` characters. */
const unknownParameters = (size: number) =>
  Array.from({ length: Math.floor(size / 6) }, (_, i) => `${1_000 + i}=`).join('&');

describe('a query longer than 2 KiB is a 400', () => {
  // Each would return a list otherwise.
  test.each([
    ['&', '&'.repeat(2_100)],
    ['a valid status and &', `status=sold${'&'.repeat(2_100)}`],
    ['a valid limit of many digits', `limit=${'0'.repeat(2_100)}20`],
  ])('though it is made of %s', async (_, query) => {
    const { status, text } = await get(`/v1/pets?${query}`);
    expect(JSON.parse(text)).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(status).toBe(400);
    expect(await server.report()).toMatchObject({ d1: 0 });
  });

  test('but a query of 2 KiB is valid', async () => {
    expect((await get(`/v1/pets?limit=${'0'.repeat(2_000)}20`)).status).toBe(200);
  });
});

test('an id of 16,000 digits gets a short message', async () => {
  const { status, text } = await get(`/v1/pets/${'9'.repeat(16_000)}`);
  expect(JSON.parse(text)).toMatchObject({ status: 400, code: 'invalid_request' });
  expect(status).toBe(400);
  expect(text.length).toBeLessThan(4_000);
});

test('a message names at most 20 unknown parameters, and the number of others', async () => {
  const { status, text } = await get(`/v1/pets?${unknownParameters(1_800)}`);
  expect(status).toBe(400);
  expect(text.length).toBeLessThan(4_000);
  expect(text.match(/is not a known parameter/g)).toHaveLength(20);
  expect(text).toMatch(/\b280\b/);
});
