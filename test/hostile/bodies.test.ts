/** Bodies designed to cause long messages, or to be sent slowly. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { answerOn, bytesOf, creating, send, write } from './client.ts';
import { startServer } from './server.ts';

const server = startServer();

test('a message names at most 20 problems, and the number of others', async () => {
  const names = Array.from({ length: 1_800 }, (_, i) => `"${1_000 + i}":1`);
  const key = await server.issueKey();
  const { status, text } = await send(server.port(), creating(key, `{${names.join(',')}}`));
  const { code, message } = JSON.parse(text);
  expect([status, code]).toEqual([400, 'invalid_request']);
  expect(text.length).toBeLessThan(4_000);
  expect(message.match(/is required|is not a known field/g)).toHaveLength(20);
  // Two required fields are missing as well.
  expect(message).toMatch(/\b1,?782\b/);
});

test('a message truncates long names', async () => {
  const names = Array.from({ length: 15 }, (_, i) => `"${i}${'x'.repeat(1_000)}":1`);
  const key = await server.issueKey();
  const { status, text } = await send(server.port(), creating(key, `{${names.join(',')}}`));
  expect(status).toBe(400);
  expect(text.length).toBeLessThan(4_000);
});

test('a key that is revoked while its client slowly sends a body writes nothing', async () => {
  const key = await server.issueKey();
  const request = bytesOf(creating(key, '{"name":"Rex","categoryId":1}'));
  const socket = await write(server.port(), request.subarray(0, -1));
  // The body is read after the limiter calls.
  await server.until(({ limits }) => limits.WRITE_RATE_LIMITER === 1);
  await pause(50);
  await server.issueKey({ revokedAt: new Date().toISOString() }, key);
  await server.set({ advance: 30_000 });
  socket.write(request.subarray(-1));
  const { status, text } = await answerOn(socket);
  expect([status, JSON.parse(text).code]).toEqual([401, 'revoked_api_key']);
  expect(await server.report()).toMatchObject({ pets: 0 });
});
