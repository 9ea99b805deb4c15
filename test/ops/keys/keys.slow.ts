/** The life of an API key at a fake of Cloudflare, with the real wrangler: see keys.test.ts. */
import { expect, test } from 'vitest';
import { startClone } from '../clone.ts';

const { run, cloudflare } = await startClone(true);
const KEYS = 'node ops/keys.ts';
const IN_PRODUCTION = '--env production --yes';

/** Production's records, and their metadata. */
const values = () => [...(cloudflare.namespaces[1]?.values.values() ?? [])];
const records = (): Record<string, string>[] => values().map(({ value }) => JSON.parse(value));

test('a key is created, rotated, and revoked by its text', async () => {
  await run(`${KEYS} create --label Anna ${IN_PRODUCTION}`);
  const output = await run(`${KEYS} rotate ${records()[0]?.id} ${IN_PRODUCTION}`);
  const [key = ''] = /animal_production_\w+/.exec(output) ?? [];
  await run(`echo ${key} | ${KEYS} revoke ${IN_PRODUCTION}`);
  const [old, next] = records();
  expect(old?.rotatedTo).toBe(next?.id);
  expect(next).toMatchObject({ label: 'Anna', revokedAt: expect.any(String) });
  expect(values().map(({ metadata }) => metadata)).toEqual(records());
  expect(await run(`${KEYS} list --env production`)).toMatch(/\tactive\t.*\n.*\trevoked\t/);
});
