/** One life of the store: released, promoted, broken, returned, rolled back; and what its clients saw. */
import { describe, expect, test } from 'vitest';
import type { Deployment } from '../cloudflare/workers.ts';
import { ADDRESS, PROMOTE, releaseProject } from './release-project.ts';

const project = releaseProject();
const { commit, production, release, refused } = project;
const names: Record<string, string> = {};

/** The production deployments since a number of them, as shares of versions by name. */
function sharesSince(count: number): string[] {
  const inWords = ({ versions }: Deployment) =>
    versions.map((each) => `${names[each.version_id]} ${each.percentage}`).join(', ');
  return production().deployments.slice(count).map(inWords);
}

/** Names the newest version of production, and returns its id. */
function nameNewest(name: string): string {
  const id = production().versions.at(-1)?.id ?? '';
  names[id] = name;
  return id;
}

function idOf(name: string): string {
  return Object.keys(names).find((id) => names[id] === name) ?? '';
}

/** Makes a release whose list of animals a test can break, by writing its name to KV. */
const breakable = (name: string) => (text: string) =>
  text.replace(/'broken \w+'/, `'broken ${name}'`).replace('return response;', BREAKABLE);

const BREAKABLE = `return env.API_KEYS.get('broken first').then((broken) =>
  broken && request.url.includes('/v1/pets') ? new Response(null, { status: 500 }) : response);`;

async function setBroken(name: string, isBroken: boolean): Promise<void> {
  const keys = await project.cloudflare().namespace('api-keys-of-production');
  await (isBroken ? keys.put(`broken ${name}`, 'now') : keys.delete(`broken ${name}`));
}

/** Sends a client's requests while something runs, and returns the status of each answer. */
async function statusesDuring(action: () => Promise<unknown>): Promise<number[]> {
  const requests: Promise<Response>[] = [];
  const timer = setInterval(() => requests.push(project.visit('/v1/pets?limit=1')), 500);
  await action().finally(() => clearInterval(timer));
  return (await Promise.all(requests)).map(({ status }) => status);
}

/** Has Cloudflare keep what version 1.0.0 of the release tool would have noted of what production serves. */
function noteAsVersion1(): void {
  const [served, settled] = [production().versions.at(-1), production().deployments.at(-1)];
  if (!served || !settled) throw new Error('nothing is served');
  const message = served.annotations['workers/message']?.replace('digest=', 'index.js=');
  served.annotations = { 'workers/message': `${message} assets=0 migrations=0 config=0` };
  settled.annotations = { 'workers/message': 'settled release: promoted bookmark=0' };
}

/** Promotes the third release, which a test breaks, and returns what was deployed. */
async function failedPromotion(): Promise<string[]> {
  const before = production().deployments.length;
  const problem = await refused(...PROMOTE);
  await setBroken('third', false);
  nameNewest('third');
  expect(problem).toMatch(new RegExp(`smoke test.*${idOf('second')}`));
  return sharesSince(before);
}

/** The clients' requests that a version answered, without those that asked for it by name. */
function clientsServedBy(id: string) {
  const { served } = project.cloudflare();
  return served.filter(({ version, byName }) => version === id && !byName);
}

describe('a life', { shuffle: false }, () => {
  test('staging tests a commit, and keeps nothing that its test added', async () => {
    await commit('src/index.ts', breakable('first'));
    await release('staging', '--wait=0');
    const { versions, deployments, domains, crons } = project.staging();
    const newest = versions.at(-1);
    expect(deployments.at(-1)?.versions).toEqual([{ version_id: newest?.id, percentage: 100 }]);
    const head = await project.git('rev-parse', 'HEAD');
    expect(newest?.annotations['workers/message']).toContain(`commit=${head} `);
    expect([domains, crons]).toEqual([['staging.api.animals.test'], ['*/10 * * * *']]);
    const database = await project.cloudflare().database('database-of-staging');
    for (const table of ['pets', 'orders']) {
      expect(await database.prepare(`SELECT count(*) AS n FROM ${table}`).first('n')).toBe(0);
    }
  });

  test('a first promotion that fails is never reachable at the public address', async () => {
    await setBroken('first', true);
    const problem = await refused(...PROMOTE);
    expect(problem).toContain('smoke test');
    await setBroken('first', false);
    expect(clientsServedBy(nameNewest('broken'))).toEqual([]);
    expect((await project.visit('/health')).status).toBe(503);
  });

  test('the first promotion gives production the bytes that staging tested', async () => {
    await release(...PROMOTE);
    const first = nameNewest('first');
    const shares = sharesSince(-4).join('; ');
    expect(shares).toMatch(/^first 10, .* 90; first 50, .* 50; first 100; first 100$/);
    const [served, tested] = [production().versions.at(-1), project.staging().versions.at(-1)];
    expect(served?.id).toBe(first);
    expect([served?.code, served?.assets]).toEqual([tested?.code, tested?.assets]);
    expect(production().domains).toEqual([ADDRESS]);
    expect((await project.visit('/health')).status).toBe(200);
  });

  test('a migration that the previous release fails on is refused before anything changes', async () => {
    await project.addMigration('lower_names', 'UPDATE pets SET name = lower(name);');
    const before = project.changes().length;
    expect(await refused('staging', '--wait=0')).toContain('the previous release');
    expect(project.changes().slice(before)).toEqual([]);
    await project.git('revert', '--no-edit', 'HEAD');
  });

  test('a promotion on top of version 1.0.0 goes through 0, 10, 50 and 100 %, and every client is answered', async () => {
    noteAsVersion1();
    await commit('src/index.ts', breakable('second'));
    await project.addMigration('add_note', 'ALTER TABLE pets ADD COLUMN note TEXT;');
    await release('staging', '--wait=0');
    const before = production().deployments.length;
    const statuses = await statusesDuring(async () => {
      const report = JSON.parse(await release(...PROMOTE, '--json'));
      expect(report).toMatchObject({ ok: true, commit: await project.git('rev-parse', 'HEAD') });
    });
    nameNewest('second');
    expect(sharesSince(before)).toEqual([
      'second 0, first 100',
      'second 10, first 90',
      'second 50, first 50',
      'second 100',
      'second 100',
    ]);
    expect(statuses.length).toBeGreaterThan(10);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test('a version that fails at 0 % is returned from, and no client is served by it', async () => {
    await commit('src/index.ts', breakable('third'));
    await release('staging', '--wait=0');
    expect(await release('status')).toContain('Production is behind staging.');
    await setBroken('third', true);
    expect(await failedPromotion()).toEqual(['third 0, second 100', 'second 100']);
    expect(clientsServedBy(idOf('third'))).toEqual([]);
  });

  test('a version that fails at 50 % is returned from', async () => {
    const at50 = /^after POST .*production\/deployments 50\/50$/;
    project.cloudflare().on(at50, () => setBroken('third', true));
    const shares = await failedPromotion();
    expect(shares.slice(-2)).toEqual(['third 50, second 50', 'second 100']);
  });

  test('a rollback takes effect with a wrong SMOKE_API_KEY, and prints how to restore the data', async () => {
    expect(await release('rollback')).toContain(idOf('first'));
    const rollback = ['rollback', idOf('first').slice(0, 8)];
    const { code, stdout, stderr } = await project.run(rollback, { SMOKE_API_KEY: 'wrong' });
    expect(code, stderr).toBe(0);
    expect(sharesSince(-1)).toEqual(['first 100']);
    expect(stdout).toMatch(/Not tested: .*npm run release -- smoke --env production/);
    expect(stdout).toContain('npx wrangler d1 time-travel restore DB --env production --bookmark=');
    expect(project.cloudflare().calls.filter((call) => call.includes('restore'))).toEqual([]);
  });

  test('a rollback whose command fails after it took effect is tested, and a failure says what is served', async () => {
    await setBroken('second', true);
    project.cloudflare().failNext(/^after POST .*production\/deployments/);
    const problem = await refused('rollback', idOf('second'));
    expect(problem).toMatch(/smoke test failed: GET .*\/v1\/pets: status is 500;/);
    expect(problem).toContain(`production serves ${idOf('second')} to all`);
    expect(sharesSince(-1)).toEqual(['second 100']);
  });

  test('no token or key is in an output, an argument or a file', () => project.expectNoSecrets());
});
