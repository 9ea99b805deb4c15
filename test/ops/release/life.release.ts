/** A service's life: set up, released, promoted, broken, returned, rolled back; and what its clients saw. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { StoredDeployment } from '../cloudflare/workers.ts';
import { nextMigration } from '../project.ts';
import { ACCOUNT, releaseProject } from './release-project.ts';

const PRODUCTION = 'animal-store-production';
const ADDRESS = 'api.animals.test';
const DEPLOYMENT = /^POST .*\/scripts\/animal-store-production\/deployments$/;

const project = releaseProject();
const production = () => project.cloudflare().script(PRODUCTION);
const file = (path: string) => readFile(join(project.path(), path), 'utf8');

/** The shares of the deployments since a number of them, with versions as names. */
function sharesSince(count: number, names: Record<string, string>): string[] {
  const inWords = ({ versions }: StoredDeployment) =>
    versions.map((each) => `${names[each.version_id]} ${each.percentage}`).join(', ');
  return production().deployments.slice(count).map(inWords);
}

/** Sends a client's requests until it is stopped; gives the statuses of the answers. */
function startClient(): () => Promise<number[]> {
  const { SMOKE_API_KEY } = project.env('production');
  const url = `http://127.0.0.1:${project.cloudflare().edgePort}/v1/pets?limit=1`;
  const headers = { 'x-fake-host': ADDRESS, authorization: `Bearer ${SMOKE_API_KEY}` };
  const statuses: number[] = [];
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      statuses.push((await fetch(url, { headers })).status);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();
  return async () => {
    stopped = true;
    await running;
    return statuses;
  };
}

/** Wraps the worker's fetch in code of a test. */
const wrap = (body: string) => () =>
  `import { app } from './app.ts';
   import { sweep } from './idempotency/sweep.ts';
   export default {
     async fetch(request: Request, env: Env, ctx: ExecutionContext) {
       const { pathname } = new URL(request.url);
       ${body}
       return app.fetch(request, env, ctx);
     },
     scheduled: sweep,
   };`;

describe('a life', { shuffle: false }, () => {
  let first: string;
  let second: string;

  test('set up: the ids are in wrangler.toml, and nothing else is changed', async () => {
    const before = (await project.git('show', 'HEAD~1:wrangler.toml')).split('\n');
    const lines = (await file('wrangler.toml')).trimEnd().split('\n');
    const changed = lines.filter((line, index) => line !== before[index]);
    expect(lines).toHaveLength(before.length);
    expect(changed).toEqual([
      `account_id = "${ACCOUNT}"`,
      'database_id = "11111111-1111-4111-8111-111111111111"',
      `id = "${'1'.repeat(32)}"`,
      `account_id = "${ACCOUNT}"`,
      'database_id = "22222222-2222-4222-8222-222222222222"',
      `id = "${'2'.repeat(32)}"`,
    ]);
    const { databases } = project.cloudflare();
    expect(databases.map(({ read_replication }) => read_replication.mode)).toEqual([
      'auto',
      'auto',
    ]);
    expect(project.cloudflare().namespace('2'.repeat(32)).size).toBe(1);
  });

  test('set up again: nothing is done', async () => {
    const { calls } = project.cloudflare();
    const before = calls.length;
    const text = await file('wrangler.toml');
    const again = JSON.parse(
      await project.release('setup', '--env', 'staging', '--account', ACCOUNT, '--json'),
    );
    expect(again).toMatchObject({ ok: true, key: null, replicated: true, todo: [] });
    const writes = calls.slice(before).filter((call) => !call.startsWith('GET'));
    // Statistics for `d1 info`.
    expect(writes).toEqual(['POST /graphql']);
    expect(await file('wrangler.toml')).toBe(text);
  });

  test('staging: built once, deployed with its name, proved, and left clean', async () => {
    const said = await project.release('staging');
    const manifest = JSON.parse(await file('dist/manifest.json'));
    const script = project.cloudflare().script('animal-store-staging');
    const [version] = script.versions;
    expect(version?.sha256).toBe(manifest['index.js']);
    expect(manifest.commit).toBe(await project.git('rev-parse', 'HEAD'));
    const message = version?.annotations['workers/message'] ?? '';
    expect(message).toContain(`commit=${manifest.commit} index.js=${manifest['index.js']} `);
    expect(manifest.staging).toMatchObject({ version: version?.id, bookmark: expect.any(String) });
    expect(Object.keys(manifest.migrations)).toEqual(
      Object.keys(JSON.parse(await file('migrations/checksums.json'))),
    );
    expect([script.domains, script.crons]).toEqual([
      ['staging.api.animals.test'],
      ['*/10 * * * *'],
    ]);
    expect(said).toMatch(/smoke test … [0-9.]+ s: 21 checks/);

    const database = await project.cloudflare().database('11111111-1111-4111-8111-111111111111');
    for (const table of ['pets', 'orders', 'idempotency_keys']) {
      expect(await database.prepare(`SELECT count(*) AS n FROM ${table}`).first('n'), table).toBe(
        0,
      );
    }
    const used =
      "SELECT name, seq FROM sqlite_sequence WHERE name <> 'd1_migrations' ORDER BY name";
    expect((await database.prepare(used).all()).results).toEqual([
      { name: 'orders', seq: 2 },
      { name: 'pets', seq: 2 },
    ]);
  });

  test('first promotion: with a key that can only read, and no client reaches it before it is tested', async () => {
    const { served } = project.cloudflare();
    await project.release('promote', '--probes', '10');
    const [version] = production().versions;
    first = version?.id ?? '';
    const hosts = served.filter(({ script }) => script === PRODUCTION).map(({ host }) => host);
    const own = hosts.indexOf(ADDRESS);
    expect(hosts.slice(0, own).every((host) => host.endsWith('.workers.dev'))).toBe(true);
    expect(own).toBeGreaterThanOrEqual(10);
    expect(hosts.slice(own)).not.toContain(hosts[0]);
    expect(production()).toMatchObject({
      workersDev: false,
      domains: [ADDRESS],
      crons: ['*/10 * * * *'],
    });
    const staging = project.cloudflare().script('animal-store-staging').versions[0];
    expect(version?.sha256).toBe(staging?.sha256);
    expect(version?.assets).toEqual(staging?.assets);
    const [key] = project.cloudflare().namespace('2'.repeat(32)).values();
    expect(JSON.parse(key?.value ?? '')).toMatchObject({ scopes: ['read'] });
    const writes = served.filter(({ script, status }) => script === PRODUCTION && status === 403);
    expect(new Set(writes.map(({ path }) => path))).toEqual(new Set(['/v1/pets']));
  });

  test('second promotion: 0, 10, 50, 100 %, and every request is answered well', async () => {
    await project.commit(
      `migrations/${nextMigration('add_note')}`,
      () => 'ALTER TABLE pets ADD COLUMN note TEXT;',
    );
    expect(await project.refused('staging')).toContain('its checksum is not recorded');
    await project.run('check-migrations.ts', ['--record']);
    await project.commit('src/health/routes.ts', (text) =>
      text.replace("'ok',", "'ok', release: 2,"),
    );
    await project.release('staging');
    const { deployments } = production();
    const { served } = project.cloudflare();
    const [before, servedBefore] = [deployments.length, served.length];
    let atTen = 0;
    project.cloudflare().onNext(DEPLOYMENT, 'before', () => {});
    project.cloudflare().onNext(DEPLOYMENT, 'before', () => {
      atTen = served.length;
    });
    const stop = startClient();
    const report = JSON.parse(await project.release('promote', '--probes', '20', '--json'));
    const statuses = await stop();
    second = production().versions.at(-1)?.id ?? '';

    expect(report).toMatchObject({ ok: true, version: second, previous: first });
    expect(sharesSince(before, { [first]: 'first', [second]: 'second' })).toEqual([
      'second 0, first 100',
      'second 10, first 90',
      'second 50, first 50',
      'second 100',
      'second 100',
    ]);
    const staging = project.cloudflare().script('animal-store-staging');
    expect(production().versions.at(-1)?.sha256).toBe(staging.versions.at(-1)?.sha256);
    expect(statuses.length).toBeGreaterThan(20);
    expect(new Set(statuses)).toEqual(new Set([200]));
    // Until it had its first share it was asked by name, the smoke test's way, and in no other.
    const bySecond = served.slice(servedBefore, atTen).filter(({ version }) => version === second);
    expect(bySecond.length).toBeGreaterThan(10);
    expect(bySecond.filter(({ override }) => !override)).toEqual([]);
  });

  test('a version that fails at 0 %: no client is served by it, and production returns', async () => {
    await project.commit(
      'src/index.ts',
      wrap(
        `if (env.ENVIRONMENT === 'production' && pathname === '/v1/pets') return new Response('', { status: 500 });`,
      ),
    );
    await project.release('staging');
    const before = production().deployments.length;
    const stop = startClient();
    const problem = await project.refused('promote', '--probes', '20');
    const statuses = await stop();
    const bad = production().versions.at(-1)?.id ?? '';
    expect(problem).toContain('smoke test, no key is a 401: status is 500, not 401');
    expect(problem).toContain(`production serves the old version, ${second}, to all`);
    expect(sharesSince(before, { [second]: 'second', [bad]: 'bad' })).toEqual([
      'bad 0, second 100',
      'second 100',
    ]);
    const { served } = project.cloudflare();
    expect(served.filter(({ version, override }) => version === bad && !override)).toEqual([]);
    expect(served.filter(({ version }) => version === bad).length).toBeGreaterThan(1);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test('a version that fails at 50 %: production returns', async () => {
    await project.commit(
      'src/index.ts',
      wrap(
        `if (pathname === '/v1/pets' && (await env.API_KEYS.get('break'))) return new Response('', { status: 500 });`,
      ),
    );
    await project.release('staging');
    const kv = () => project.cloudflare().kv('2'.repeat(32));
    for (const action of [
      () => {},
      () => {},
      () => void kv().then((store) => store.put('break', 'now')),
    ]) {
      project.cloudflare().onNext(DEPLOYMENT, 'after', action);
    }
    const before = production().deployments.length;
    const stop = startClient();
    const problem = await project.refused('promote', '--probes', '20');
    await stop();
    await (await kv()).delete('break');
    const bad = production().versions.at(-1)?.id ?? '';
    expect(problem).toContain('smoke test, no key is a 401: status is 500, not 401');
    expect(problem).toContain(`production serves the old version, ${second}, to all`);
    expect(sharesSince(before, { [second]: 'second', [bad]: 'bad' })).toEqual([
      'bad 0, second 100',
      'bad 10, second 90',
      'bad 50, second 50',
      'second 100',
    ]);
    // Of all clients, as the shares are.
    const { served } = project.cloudflare();
    expect(served.at(-1)).toMatchObject({ version: second, status: 200 });
  });

  test('status: production is behind', async () => {
    const said = await project.release('status');
    expect(said).toContain('Production is behind staging, by 2 commits: ');
    expect(JSON.parse(await project.release('status', '--json'))).toMatchObject({ behind: true });
  });

  test('rollback: lists what has been served, returns to it by name, and runs no restore', async () => {
    const list = await project.release('rollback');
    expect(list.match(/[0-9a-f-]{36} {2}of/g)).toEqual([`${first}  of`]);
    expect(await project.refused('rollback', production().versions.at(-1)?.id ?? '')).toContain(
      'no version is',
    );
    const { calls } = project.cloudflare();
    const said = await project.release('rollback', first.slice(0, 8));
    const bookmark = /bookmark=(\S+)/.exec(
      production().versions.find(({ id }) => id === second)?.annotations['workers/message'] ?? '',
    )?.[1];
    expect(bookmark).toMatch(/^[0-9a-f-]{59}$/);
    expect(said).toContain(
      `npx wrangler d1 time-travel restore DB --env production --bookmark=${bookmark}`,
    );
    expect(production().deployments.at(-1)?.versions).toEqual([
      { version_id: first, percentage: 100 },
    ]);
    expect(calls.filter((call) => call.includes('restore'))).toEqual([]);
    expect(await project.refused('rollback', first)).toContain(
      `production serves ${first} to all already`,
    );
    // From there forward again: nothing was released since, so there is nothing to take back.
    expect(await project.release('rollback', second)).not.toContain('time-travel');
  });

  test('promote again what production has settled on: nothing is returned, whatever fails', async () => {
    await project.commit('src/index.ts', (text) => text.replace(/if \(.*\n/, ''));
    await project.release('staging');
    await project.release('promote', '--probes', '10');
    const [serving, uploads] = [
      production().deployments.at(-1)?.versions,
      production().versions.length,
    ];
    await project.release('promote', '--probes', '10');
    project.cloudflare().failNext(/^PUT .*animal-store-production\/schedules$/);
    await project.refused('promote', '--probes', '10');
    expect(production().deployments.at(-1)?.versions).toEqual(serving);
    expect(production().versions).toHaveLength(uploads);
  });
});
