/** One life of production: set up, promoted, rolled back; and what is refused on the way. */
import { describe, expect, test } from 'vitest';
import { nextMigration } from '../project.ts';
import { after, releaseProject, STAGING, served } from './release-project.ts';

const project = releaseProject();
const { commit, release, refused, production, staging } = project;
const MIGRATION = `migrations/${nextMigration('note')}`;
const AT_10 = 'POST deployments 10/90';
const PROMOTE = ['promote', '--yes', '--hold=0'];

async function countRows(environment: string): Promise<unknown> {
  const database = await project.cloudflare().database(`database-of-${environment}`);
  const count = (table: string) => `(SELECT count(*) FROM ${table}) AS ${table}`;
  return database.prepare(`SELECT ${['pets', 'orders', 'idempotency_keys'].map(count)}`).first();
}

describe('a life', { shuffle: false }, () => {
  test('production is set up with what staging serves', async () => {
    await release('first', '--env=staging');
    await release('first', '--env=production', '--yes');
    expect(production().versions[0]?.code).toBe(staging().versions[0]?.code);
  });

  test('staging is released though a migration seems to fail, and keeps no animal of the smoke tests', async () => {
    await commit(MIGRATION, () => 'ALTER TABLE pets ADD COLUMN note TEXT;');
    project.cloudflare().failNext(/^after POST .*query ALTER TABLE/);
    expect(await release('staging')).toContain('Applying migrations');
    expect(await countRows('staging')).toMatchObject({ pets: 0 });
  });

  test('a promotion goes through 0, 10 and 100 %, though a command seems to fail, and only reads', async () => {
    project.cloudflare().failNext(after(AT_10));
    expect(await release(...PROMOTE)).toContain('count by $workers.scriptVersion.id');
    const shares = production().deployments.map(({ versions }) => versions[0]?.percentage);
    expect(shares.slice(-4)).toEqual([0, 10, 100, 100]);
    expect(production().versions.at(-1)?.code).toBe(staging().versions.at(-1)?.code);
    expect(await countRows('production')).toEqual({ pets: 0, orders: 0, idempotency_keys: 0 });
  });

  test('a promotion that fails for clients while a share is held returns', async () => {
    const { broken, on } = project.cloudflare();
    const old = served(production());
    on(after(AT_10), () => void broken.add(old));
    const made = ['POST versions', 'POST deployments 0/100', AT_10, 'POST deployments 100'];
    expect(await refused(PROMOTE, made)).toContain(`production serves ${old} to all`);
    broken.clear();
  });

  test('a promotion of another commit, other bytes or a failed version, or without the key, is refused', async () => {
    expect(await refused([...PROMOTE, '--commit=another'])).toContain('staging now serves');
    const keyless = { SMOKE_API_KEY: '' };
    expect(await refused(PROMOTE, [], keyless)).toContain('--read-only --env production');
    const { annotations = {} } = staging().versions.at(-1) ?? {};
    const message = annotations['workers/message'] ?? '';
    annotations['workers/message'] = message.replace(/digest=./, 'digest=_');
    expect(await refused(PROMOTE)).toContain("the build differs from staging's");
    const id = served(staging());
    const failed = { 'workers/message': `run=12345678 old=${id}` };
    const { deployments } = staging();
    staging().deployments = [];
    project.cloudflare().deploy(STAGING, [{ version_id: id, percentage: 100 }], failed);
    expect(await refused(PROMOTE)).toContain('which failed its tests');
    staging().deployments = deployments;
  });

  test('after a rollback of staging a promotion is of the older commit: it says so, and asks', async () => {
    const first = staging().versions[0]?.id ?? '';
    await release('rollback', first.slice(0, 8), '--env=staging');
    expect(served(staging())).toBe(first);
    expect(await refused(['promote', '--hold=0'])).toMatch(/BACK in history.*\n.*add --yes/);
  });

  test('a rollback asks, refuses another database, and changes no settings', async () => {
    const [first] = production().versions;
    const rollback = ['rollback', first?.id ?? '', '--env=production'];
    expect(await refused(rollback)).toContain('add --yes');
    await commit('wrangler.toml', (text) => text.replaceAll('enabled = true', 'enabled = false'));
    const before = structuredClone(production().settings);
    const database = first?.resources.bindings.find(({ type }) => type === 'd1') ?? { id: '' };
    database.id = 'database-of-other';
    expect(await refused([...rollback, '--yes'])).toMatch(/database: .*--force serves it/);
    await release(...rollback, '--yes', '--force');
    expect([served(production()), production().settings]).toEqual([first?.id, before]);
  });
});
