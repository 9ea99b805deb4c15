/** The fields of a log line are those of docs/alerts/README.md. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startFaultyStore } from '../support/store.ts';

const store = startFaultyStore();

test('docs/alerts/README.md has the fields of the lines, and no others', async () => {
  const key = await store.issueKey();
  await store.fault({ limiters: 'throws', d1: [{ meta: { served_by_region: 'WEUR' } }] });
  const headers = { 'cf-ray': '8f1c-FRA', 'x-d1-bookmark': 'unknown' };
  await store.fetch('/v1/pets/1', { key, headers });
  await store.fault({ kv: 'throws', now: Date.now() + 31_000, d1: ['throws'] });
  await store.fetch('/v1/pets', { key });
  await store.fault({ d1: ['throws'] });
  await store.createPet({ name: 'Rex', categoryId: 1 }, { headers: { 'idempotency-key': 'k' } });
  await store.scheduled();
  const fields = new Set((await store.logLines()).flatMap(Object.keys));

  const page = readFileSync('docs/alerts/README.md', 'utf8');
  const [, section = ''] = page.split('## The fields of the log');
  const rows = section.match(/^\| `.*? \|/gm)?.join('') ?? '';
  const sweep = ['task', 'removed', 'finished'];
  for (const field of sweep) expect(section).toContain(`\`${field}\``);
  expect(new Set([...(rows.match(/\w+/g) ?? []), ...sweep])).toEqual(fields);
});
