/** Headers designed to cost time: a request of 120 KB does not delay other clients. */
import { beforeEach, describe, expect, test } from 'vitest';
import { generateKey } from '../../src/auth/keys/format.ts';
import { answerOn, bytesOf, type Sent, write } from './client.ts';
import { expectLinear, timeOf } from './growth.ts';
import { startServer } from './server.ts';

const server = startServer();
const SIZE = 30_000;
const LINE = '\u2028';
const PARAGRAPH = '\u2029';

let key = '';
beforeEach(async () => {
  key = await server.issueKey();
});

/** The text repeated up to `size` bytes. */
function fill(text: string, size: number): string {
  return text.repeat(Math.floor(size / Buffer.byteLength(text)));
}

function create(headers: Record<string, string>): Sent {
  return {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ name: 'Rex', categoryId: 1 }),
  };
}

describe('the response time grows at most linearly with Authorization', () => {
  test.each([
    ['Bearer and spaces before U+2028', (size: number) => `Bearer${fill(' ', size)}${LINE}x`],
    ['Bearer and spaces before U+2029', (size: number) => `Bearer${fill(' ', size)}${PARAGRAPH}x`],
    ['letters and a space before U+2028', (size: number) => `${fill('a', size)} ${LINE}x`],
    ['letters and a space before U+2029', (size: number) => `${fill('a', size)} ${PARAGRAPH}x`],
    ['commas and a space before U+2028', (size: number) => `${fill(',', size)} ${LINE}x`],
    ['many Bearers before U+2028', (size: number) => `${fill('Bearer ', size)}${LINE}x`],
    [
      'a credential of letters before U+2028',
      (size: number) => `Bearer ${fill('a', size)}${LINE}x`,
    ],
    ['nothing but U+2028', (size: number) => fill(LINE, size)],
    ['U+2028 between spaces', (size: number) => `Bearer${fill(` ${LINE}`, size)}x`],
    ['a credential of letters', (size: number) => `Bearer ${fill('a', size)}`],
    ['spaces inside', (size: number) => `Bearer${fill(' ', size)}x y`],
  ])('made of %s', async (_, value) => {
    await expectLinear(server.port(), SIZE, (size) => ({
      headers: { Authorization: value(size) },
    }));
  });
});

describe('the response time grows at most linearly with', () => {
  test.each([
    ['Content-Type', 'application/json', ';'],
    ['Content-Type', 'application/json', ' '],
    ['Content-Type', 'application/json', ' ; '],
    ['Content-Type', 'application/json', LINE],
    ['Content-Type', 'application/json', ';charset=utf-8'],
    ['Content-Encoding', 'identity', ' '],
    ['Content-Encoding', 'gzip', ', '],
    ['Content-Encoding', 'gzip', LINE],
    ['Idempotency-Key', '', '"'],
    ['Idempotency-Key', '"', '\\'],
    ['Idempotency-Key', '"', '\\"'],
    ['Idempotency-Key', '"', `"${LINE}`],
    ['Idempotency-Key', '"', ' '],
    ['X-D1-Bookmark', '', '0'],
    ['X-D1-Bookmark', '', '00000000-'],
    ['Origin', 'http://', 'localhost'],
    ['Origin', 'http://localhost', ':'],
    ['Origin', 'http://', '127.'],
    ['Origin', '', LINE],
    ['Access-Control-Request-Headers', '', 'a,'],
    ['CF-Ray', '', '0'],
    ['CF-Ray', '0', '-ABC'],
  ])('%s made of %j and many %j', async (name, start, text) => {
    await expectLinear(server.port(), SIZE, (size) =>
      create({ [name]: `${start}${fill(text, size)}x` }),
    );
  });

  test.each(['1', '1.', ':', '::ffff:', '0:'])('CF-Connecting-IP made of %j', async (text) => {
    // The address is read only for an unknown key.
    await expectLinear(server.port(), SIZE, (size) =>
      create({
        Authorization: `Bearer ${generateKey('local')}`,
        'CF-Connecting-IP': `::ffff:${fill(text, size)}`,
      }),
    );
  });

  test('Origin of a preflight', async () => {
    await expectLinear(server.port(), SIZE, (size) => ({
      method: 'OPTIONS',
      headers: {
        Origin: `http://${fill('localhost.', size)}`,
        'Access-Control-Request-Method': 'GET',
      },
    }));
  });
});

test('a hostile request delays other clients no longer than a harmless one of the same size', async () => {
  const hostile = { headers: { Authorization: `Bearer${fill(' ', SIZE)}${LINE}x` } };
  const harmless = { headers: { Authorization: `Bearer ${fill('a', SIZE)}` } };
  const beside = async (other: Sent) => {
    const waits: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      const socket = await write(server.port(), bytesOf(other));
      waits.push((await timeOf(server.port(), { path: '/health' })).ms);
      await answerOn(socket);
    }
    return waits.sort((a, b) => a - b)[3] ?? Infinity;
  };
  // The second measurement finds a warm runtime.
  await beside(harmless);
  expect((await beside(hostile)) / (await beside(harmless))).toBeLessThan(20);
});
