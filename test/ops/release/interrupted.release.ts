/** A promotion that is cut short, at any call that changes something: production is never left broken. */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { releaseProject } from './release-project.ts';

const PRODUCTION = 'animal-store-production';
const ADDRESS = 'api.animals.test';
const PROMOTE = ['promote', '--probes', '10'];

const project = releaseProject();
const production = () => project.cloudflare().script(PRODUCTION);

let old: string;
let restore: () => Promise<void>;

beforeAll(async () => {
  await project.release('staging');
  await project.release(...PROMOTE);
  old = production().versions[0]?.id ?? '';
  await project.commit('src/health/routes.ts', (text) =>
    text.replace("'ok',", "'ok', release: 2,"),
  );
  await project.release('staging');
  restore = project.cloudflare().snapshot(PRODUCTION);
}, 180_000);
beforeEach(async () => {
  await restore();
  // The promotion is to attach them as they should be.
  Object.assign(production(), { workersDev: true, domains: [ADDRESS, 'old.test'], crons: [] });
});

const on = (call: string) => new RegExp(`^${call}$`.replace(' S/', ` .*/scripts/${PRODUCTION}/`));
const UPLOAD = on('POST S/versions');
const DEPLOY = on('POST S/deployments');
const STATUS = on('GET S/deployments');
const SETTINGS = on('PATCH S/script-settings');
const SUBDOMAIN = on('POST S/subdomain');
const CRONS = on('PUT S/schedules');
const DOMAINS = on('PUT S/domains/records');

/** Does something at the n-th call of a kind from now on. */
function at(call: RegExp, n: number, when: 'before' | 'after', action: () => void): void {
  for (let skipped = 1; skipped < n; skipped += 1) {
    project.cloudflare().onNext(call, when, () => {});
  }
  project.cloudflare().onNext(call, when, action);
}

function expectNew(): void {
  const [served] = production().deployments.at(-1)?.versions ?? [];
  expect(served?.percentage).toBe(100);
  const version = production().versions.find(({ id }) => id === served?.version_id);
  const proved = project.cloudflare().script('animal-store-staging').versions.at(-1);
  expect(version?.sha256).toBe(proved?.sha256);
  expect(production()).toMatchObject({
    workersDev: false,
    domains: [ADDRESS],
    crons: ['*/10 * * * *'],
  });
}

function expectOld(): void {
  expect(production().deployments.at(-1)?.versions).toEqual([{ version_id: old, percentage: 100 }]);
}

/** Kills what was promoting. */
async function killed(call: RegExp, n: number): Promise<void> {
  const promotion = project.start('release.ts', PROMOTE, project.env('production'));
  at(call, n, 'after', () => promotion.process.kill('SIGKILL'));
  expect(await promotion.exited).toBeNull();
  await project.quiet();
}

test.each<[string, RegExp, number]>([
  ['the upload', UPLOAD, 1],
  ['0 %', DEPLOY, 1],
  ['10 %', DEPLOY, 2],
  ['50 %', DEPLOY, 3],
  ['100 %', DEPLOY, 4],
  ['workers.dev is off', SUBDOMAIN, 1],
  ['crons are attached', CRONS, 1],
  ['routes are attached', DOMAINS, 1],
  ['it is settled on', DEPLOY, 5],
])('killed after %s: promoted again, it comes to its end', async (_, call, n) => {
  await killed(call, n);
  const uploads = production().versions.length;
  await project.release(...PROMOTE);
  expectNew();
  // What had been uploaded was not uploaded again.
  expect(production().versions).toHaveLength(uploads);
});

test('killed at 50 %, then another release is promoted: first the old version is back', async () => {
  await killed(DEPLOY, 3);
  const before = production().deployments.length;
  await project.commit('src/health/routes.ts', (text) => text.replace('release: 2', 'release: 3'));
  await project.release('staging');
  await project.release(...PROMOTE);
  const [first, second] = production().deployments.slice(before);
  expect(first?.versions).toEqual([{ version_id: old, percentage: 100 }]);
  expect(second?.versions.map(({ percentage }) => percentage)).toEqual([0, 100]);
  expect(second?.versions[1]?.version_id).toBe(old);
});

test.each<[NodeJS.Signals, RegExp, number]>([
  ['SIGINT', UPLOAD, 1],
  ['SIGTERM', DEPLOY, 2],
  ['SIGINT', DEPLOY, 4],
])('%s at a call: the old version is back', async (signal, call, n) => {
  const promotion = project.start('release.ts', PROMOTE, project.env('production'));
  // Twice, as impatient people do.
  at(call, n, 'before', () => {
    promotion.process.kill(signal);
    setTimeout(() => promotion.process.kill(signal), 1500);
  });
  expect(await promotion.exited).toBe(1);
  expectOld();
  expect(promotion.stderr()).toBe(
    `error: interrupted: ${signal}; production serves the old version, ${old}, to all\n`,
  );
});

test.each<[string, RegExp, number, 'before' | 'after']>([
  ['a deployment at 0 % that took effect', DEPLOY, 1, 'after'],
  ['a deployment at 50 % that did not', DEPLOY, 3, 'before'],
  ['a deployment at 100 % that took effect', DEPLOY, 4, 'after'],
  ['the settings after 10 %', SETTINGS, 2, 'before'],
  ['the crons', CRONS, 1, 'before'],
  ['the note that it is promoted, which took effect,', DEPLOY, 5, 'after'],
])('%s fails: the old version is back', async (_, call, n, when) => {
  const fail = () => project.cloudflare().failNext(call, when);
  if (n === 1) fail();
  else at(call, n - 1, 'after', fail);
  expect(await project.refused(...PROMOTE)).toContain(`production serves the old version, ${old}`);
  expectOld();
});

test('the API fails while production is returned, too: it is tried again', async () => {
  at(DEPLOY, 2, 'after', () => {
    for (const call of [DEPLOY, STATUS, DEPLOY]) project.cloudflare().failNext(call);
  });
  expect(await project.refused(...PROMOTE)).toContain(`production serves the old version, ${old}`);
  expectOld();
});

test('an operator rolls back meanwhile: that is what stays', async () => {
  const rolledBack = [{ version_id: old, percentage: 100 }];
  const message = 'settled release: rolled back';
  at(DEPLOY, 2, 'after', () => void project.cloudflare().deploy(PRODUCTION, rolledBack, message));
  const before = production().deployments.length;
  expect(await project.refused(...PROMOTE)).toMatch(
    /others have deployed meanwhile|has not spread/,
  );
  expect(production().deployments.length - before).toBe(3);
  expect(production().deployments.at(-1)?.annotations['workers/message']).toBe(message);
});

test('rollback --unfinished returns from a promotion that was killed, and from nothing else', async () => {
  await killed(DEPLOY, 3);
  expect(await project.release('rollback', '--unfinished')).toContain(`return to ${old}`);
  expectOld();
  const { length } = production().deployments;
  expect(await project.release('rollback', '--unfinished')).toContain('Nothing is unfinished.');
  expect(production().deployments).toHaveLength(length);
});
