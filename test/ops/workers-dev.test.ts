/** Releases of a store at workers.dev. Whether version overrides work there is not documented. */
import { afterEach, expect, test, vi } from 'vitest';
import { fakeRelease, NEW, OLD } from './fake-release.ts';
import { importWith } from './in-process.ts';

const BASE_URL = 'https://store-staging.animals.workers.dev/v1';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A world in which staging is served at workers.dev. */
function fakeWorkersDev() {
  const fake = fakeRelease();
  const { config, bindings } = fake.environments.staging;
  Object.assign(config, { workers_dev: true, routes: [], vars: { BASE_URL } });
  bindings.BASE_URL = BASE_URL;
  return fake;
}

test('a release to workers.dev serves the new version to all', async () => {
  const fake = fakeWorkersDev();
  expect(await fake.release(['staging'])).toMatchObject({ code: 0, stderr: '' });
  expect(fake.served('staging')).toBe(`${NEW}@100%`);
});

test('the smoke test fails after a minute of another version, and has only requested its health', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const pause = async (ms: number) => void vi.setSystemTime(Date.now() + ms);
  const mocks = { 'node:timers/promises': { setTimeout: pause } };
  const { smokeTest }: typeof import('../../ops/release/smoke.ts') = await importWith(
    'release/smoke.ts',
    mocks,
  );
  const sent = new Set<string>();
  // The old version answers, as if it had not seen the override.
  vi.stubGlobal('fetch', async (url: string, { headers }: { headers: object }) => {
    sent.add(`${url} ${JSON.stringify(headers)}`);
    return Response.json({ environment: 'staging', version: OLD });
  });
  const override = `store-staging="${NEW}"`;
  const store = {
    environment: 'staging',
    baseUrl: BASE_URL,
    apiKey: 'key',
    version: NEW,
    override,
    signal: new AbortController().signal,
  };
  const start = Date.now();
  await expect(smokeTest(store)).rejects.toThrow(`${BASE_URL}: version: `);
  expect(Date.now() - start).toBeGreaterThanOrEqual(60_000);
  const headers = {
    'content-type': 'application/json',
    'cloudflare-workers-version-overrides': override,
  };
  expect([...sent]).toEqual([`${BASE_URL}/health ${JSON.stringify(headers)}`]);
});
