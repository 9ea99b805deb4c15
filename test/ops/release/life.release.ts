/** One life of the store: set up, released, promoted, rolled back; and what is refused on the way. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Worker } from '../cloudflare/workers.ts';
import { nextMigration } from '../project.ts';
import { KEYS, PRODUCTION, PROMOTE, releaseProject } from './release-project.ts';

const project = releaseProject();
const { commit, release, refused, run, production, staging } = project;
const MIGRATION = `migrations/${nextMigration('one_order')}`;
const FIRST_PRODUCTION = ['first', '--env=production', '--yes'];
const rollback = (version = '', env = 'production') =>
  `rollback ${version} --env=${env} --yes`.split(' ');

/** The shares of a worker's newest deployments, the newest last. */
const shares = ({ deployments }: Worker, count: number) =>
  deployments
    .slice(-count)
    .map(({ versions }) => versions.map((each) => each.percentage).join('/'));
const served = ({ deployments }: Worker) => deployments.at(-1)?.versions.at(-1)?.version_id;

/** Changes wrangler.toml for a command, and changes it back. */
async function withConfig(
  from: string | RegExp,
  to: string,
  action: () => Promise<void>,
): Promise<void> {
  await commit('wrangler.toml', (text) => text.replaceAll(from, to));
  await action();
  await project.git('revert', '--no-edit', 'HEAD');
}

async function countRows(environment: string): Promise<unknown> {
  const database = await project.cloudflare().database(`database-of-${environment}`);
  const count = (table: string) => `(SELECT count(*) FROM ${table}) AS ${table}`;
  return database.prepare(`SELECT ${['pets', 'orders', 'idempotency_keys'].map(count)}`).first();
}

describe('a life', { shuffle: false }, () => {
  test('no environment is set up where something answers at its address', async () => {
    const { hosts } = project.cloudflare();
    hosts.set('staging.api.animals.test', 'another origin');
    const problem = await refused(['first', '--env=staging']);
    expect(problem).toContain('something answers at https://staging.api.animals.test/v1');
    hosts.clear();
    expect(await refused(['staging'])).toContain('npm run release -- first --env staging');
  });

  test('both are set up, production with what staging serves', async () => {
    await release('first', '--env=staging');
    expect(await refused(FIRST_PRODUCTION.slice(0, 2))).toContain('add --yes');
    await release(...FIRST_PRODUCTION);
    expect(production().versions[0]?.code).toBe(staging().versions[0]?.code);
    expect(project.cloudflare().hosts.get('api.animals.test')).toBe(PRODUCTION);
    expect(await refused(FIRST_PRODUCTION)).toContain(`a worker named ${PRODUCTION} exists`);
  });

  test('a renamed worker and changed resources are refused', async () => {
    await withConfig('animal-store-staging"\naccount', 'renamed"\naccount', async () => {
      expect(await refused(['staging'])).toContain('staging has no worker');
      expect(await refused(['first', '--env=staging'])).toContain('something answers');
    });
    await withConfig('animal-store-staging"\naccount', `${PRODUCTION}"\naccount`, async () => {
      expect(await refused(['staging'])).toContain('https://staging.api.animals.test/v1: health');
    });
    await withConfig(/(?<=id = "[a-z-]*-of-|pattern = ")staging/g, 'other', async () => {
      const served = (name: string, value: string) => `${name}: served is ${value}staging`;
      const names = [served('database', 'database-of-'), served('keys', 'api-keys-of-')];
      const problem = await refused(['staging']);
      for (const name of [...names, served('address', '')]) expect(problem).toContain(name);
    });
  });

  test('a migration that contracts is refused, with a reason too if the old code fails on it', async () => {
    const contract = 'CREATE UNIQUE INDEX one_order ON orders (pet_id);';
    await commit(MIGRATION, () => contract);
    expect(await refused(['staging'])).toContain('does not only expand: CREATE UNIQUE INDEX');
    await commit(MIGRATION, () => `-- contracts: nobody orders twice\n${contract}`);
    expect(await refused(['staging'])).toContain('which is served, fails on the new migrations');
    await commit(MIGRATION, () => 'ALTER TABLE pets ADD COLUMN note TEXT;');
  });

  test('staging is released though a migration seems to fail, and keeps no animal of the smoke tests', async () => {
    project.cloudflare().failNext(/^after POST .*query ALTER TABLE/);
    expect(await release('staging')).toContain('Applying migrations');
    expect(shares(staging(), 2)).toEqual(['0/100', '100']);
    expect(await countRows('staging')).toMatchObject({ pets: 0 });
  });

  test('a promotion goes through 0, 10 and 100 %, and production is only read', async () => {
    expect(await release(...PROMOTE)).toContain('count by $workers.scriptVersion.id');
    expect(shares(production(), 3)).toEqual(['0/100', '10/90', '100']);
    expect(production().versions.at(-1)?.code).toBe(staging().versions.at(-1)?.code);
    expect(await countRows('production')).toEqual({ pets: 0, orders: 0, idempotency_keys: 0 });
  });

  test('a promotion of another commit or other bytes, or with a key that can write, changes nothing', async () => {
    expect(await refused([...PROMOTE, '--commit=another'])).toContain('staging now serves');
    const writer = { SMOKE_API_KEY: KEYS.writer };
    expect(await refused(PROMOTE, [], writer)).toContain('--read-only --env production');
    const { annotations = {} } = staging().versions.at(-1) ?? {};
    const message = annotations['workers/message'] ?? '';
    annotations['workers/message'] = message.replace(/digest=./, 'digest=_');
    expect(await refused(PROMOTE)).toContain("the build differs from staging's");
  });

  test('after a rollback of staging a promotion is of the older commit: it says so, and asks', async () => {
    const first = staging().versions[0]?.id;
    await release(...rollback(first?.slice(0, 8), 'staging'));
    const { stdout, stderr } = await run(['promote']);
    expect(stdout).toContain('BACK in history');
    expect(stderr).toContain('add --yes');
  });

  test('a rollback changes no settings, whatever wrangler.toml has', async () => {
    const [first] = production().versions;
    const path = join(await project.git('rev-parse', '--show-toplevel'), 'wrangler.toml');
    const toml = await readFile(path, 'utf8');
    await writeFile(path, toml.replaceAll('enabled = true', 'enabled = false'));
    const before = structuredClone(production().settings);
    expect(await refused(rollback(first?.id).slice(0, 3))).toContain('add --yes');
    await release(...rollback(first?.id));
    await writeFile(path, toml);
    expect([served(production()), production().settings]).toEqual([first?.id, before]);
  });
});
