/** The first promotion, cut short: no client reaches a version that was not tested, and it comes to its end. */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { releaseProject } from './release-project.ts';

const PRODUCTION = 'animal-store-production';
const ADDRESS = 'api.animals.test';
const PROMOTE = ['promote', '--probes', '10'];

const project = releaseProject();
const production = () => project.cloudflare().script(PRODUCTION);

beforeAll(() => project.release('staging'), 120_000);
beforeEach(() => project.cloudflare().forget(PRODUCTION));

async function killedAfter(call: RegExp): Promise<void> {
  const promotion = project.start('release.ts', PROMOTE, project.env('production'));
  project.cloudflare().onNext(call, 'after', () => promotion.process.kill('SIGKILL'));
  expect(await promotion.exited).toBeNull();
  await project.quiet();
}

function expectPromoted(): void {
  expect(production()).toMatchObject({ workersDev: false, domains: [ADDRESS] });
  expect(production().crons).toEqual(['*/10 * * * *']);
  const staging = project.cloudflare().script('animal-store-staging').versions.at(-1);
  const [served] = production().deployments.at(-1)?.versions ?? [];
  const version = production().versions.find(({ id }) => id === served?.version_id);
  expect([served?.percentage, version?.sha256]).toEqual([100, staging?.sha256]);
}

test.each([
  ['the worker is there', /^PUT .*scripts\/animal-store-production$/],
  ['it is settled on', /^POST .*animal-store-production\/deployments$/],
  ['its route is attached', /^PUT .*animal-store-production\/domains\/records$/],
])('killed after %s: promoted again, it comes to its end', async (_, call) => {
  await killedAfter(call);
  const deployed = production().domains.length > 0 ? production().versions.length : undefined;
  await project.release(...PROMOTE);
  expectPromoted();
  // Once clients can reach it, nothing is deployed past them.
  if (deployed) expect(production().versions).toHaveLength(deployed);
});

test('killed when it has its route, then another release is promoted: by shares', async () => {
  await killedAfter(/^PUT .*animal-store-production\/domains\/records$/);
  const before = production().deployments.length;
  await project.commit('src/health/routes.ts', (text) =>
    text.replace("'ok',", "'ok', release: 2,"),
  );
  await project.release('staging');
  await project.release(...PROMOTE);
  const shares = production()
    .deployments.slice(before)
    .map(({ versions }) => versions[0]?.percentage);
  expect(shares).toEqual([0, 10, 50, 100, 100]);
  expectPromoted();
});

test('a version that fails its test never gets a route, nor keeps its address', async () => {
  project.cloudflare().failNext(/^POST .*animal-store-production\/deployments$/);
  const problem = await project.refused(...PROMOTE);
  expect(problem).toContain('production has no version yet, and nobody can reach it');
  expect(production()).toMatchObject({ workersDev: false, domains: [], crons: [] });
  await project.release(...PROMOTE);
  expectPromoted();
});
