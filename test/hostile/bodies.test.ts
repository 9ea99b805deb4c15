/** Bodies designed to cause long messages. */
import { beforeEach, expect, test } from 'vitest';
import { type Sent, send } from './client.ts';
import { startRig } from './rig.ts';

const rig = startRig();

let key = '';
beforeEach(async () => {
  key = await rig.issueKey();
});

const create = (body: string): Sent => ({
  method: 'POST',
  headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
  body,
});

test('a message names at most 20 problems, and the number of others', async () => {
  const names = Array.from({ length: 1_800 }, (_, i) => `"${1_000 + i}":1`);
  const { status, text } = await send(rig.port(), create(`{${names.join(',')}}`));
  const { code, message } = JSON.parse(text);
  expect([status, code]).toEqual([400, 'invalid_request']);
  expect(text.length).toBeLessThan(4_000);
  expect(message.match(/is required|is not a known field/g)).toHaveLength(20);
  // Two required fields are missing as well.
  expect(message).toMatch(/\b1,?782\b/);
});

test('a message truncates long names', async () => {
  const names = Array.from({ length: 15 }, (_, i) => `"${i}${'x'.repeat(1_000)}":1`);
  const { status, text } = await send(rig.port(), create(`{${names.join(',')}}`));
  expect(status).toBe(400);
  expect(text.length).toBeLessThan(4_000);
});
