/** Releases that are refused, fail, are killed or meet another operator: what is served then, and what ends it. */
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { nextMigration } from '../project.ts';
import { after, releaseProject, STAGING, served } from './release-project.ts';

const project = releaseProject();
const { commit, git, refused, release, staging } = project;
const [UPLOAD, AT_0, AT_100] = ['POST versions', 'POST deployments 0/100', 'POST deployments 100'];
const ROUTES = 'PUT domains/records';
const HOST = 'staging.api.animals.test';
const FIRST = ['first', '--env=staging'];
const UNFINISHED = ['rollback', 'unfinished', '--env=staging'];
const MIGRATION = `migrations/${nextMigration('one_order')}`;
let old: string;

const newest = () => staging().versions.at(-1)?.id ?? '';
const breakNewest = () => void project.cloudflare().broken.add(newest());
const deployAsAnother = () => {
  const shares = [{ version_id: old, percentage: 100 }];
  project.cloudflare().deploy(STAGING, shares, {}, 'another@animals.test');
};

/** Stops a release and its wrangler when its version is deployed at 0 %. */
async function stopAt0(signal: NodeJS.Signals) {
  const running = project.start(['staging']);
  project.cloudflare().on(after(AT_0), () => process.kill(-Number(running.process.pid), signal));
  return { code: await running.exited, stderr: running.stderr() };
}

describe('a release', { shuffle: false }, () => {
  beforeAll(async () => {
    await git('tag', 'start');
    await release(...FIRST);
  });
  beforeEach(() => {
    old = served(staging());
  });
  afterEach(() => git('reset', '--quiet', '--hard', 'start'));

  test('of a renamed worker is refused, and no worker is set up where something answers', async () => {
    expect(await refused(FIRST)).toContain(`a worker named ${STAGING} exists`);
    await commit('wrangler.toml', (text) => text.replace(`"${STAGING}"`, '"renamed"'));
    expect(await refused(['staging'])).toContain('npm run release -- first --env staging');
    expect(await refused(FIRST)).toContain(`something answers at https://${HOST}/v1`);
  });

  test('with other resources, another address or uncommitted files is refused', async () => {
    const names = /(?<=id = "[a-z-]*-of-|pattern = ")staging/g;
    await commit('wrangler.toml', (text) => text.replaceAll(names, 'other'));
    const problem = await refused(['staging']);
    expect(problem).toMatch(/database: served is database-of-staging.*keys: .*address: /);
    await git('reset', '--quiet', '--soft', 'start');
    expect(await refused(['staging'])).toContain('commit or remove these files first');
  });

  test('whose migration contracts is refused, with a reason too if the old code fails on it', async () => {
    const contract = 'CREATE UNIQUE INDEX one_order ON orders (pet_id);';
    await commit(MIGRATION, () => contract);
    expect(await refused(['staging'])).toContain('does not only expand: CREATE UNIQUE INDEX');
    await commit(MIGRATION, () => `-- contracts: nobody orders twice\n${contract}`);
    expect(await refused(['staging'])).toContain('which is served, fails on the new migrations');
  });

  test('that fails at 0 % returns, no client is served by it, and no settings change', async () => {
    const { on, answered } = project.cloudflare();
    on(after(UPLOAD), breakNewest);
    staging().settings = { observability: 'before' };
    const problem = await refused(['staging'], [UPLOAD, AT_0, AT_100]);
    expect(problem).toMatch(new RegExp(`error: GET /pets.*500.*staging serves ${old} to all`));
    expect(answered).not.toContain(newest());
    expect(staging().settings).toMatchObject({ observability: 'before' });
  });

  test('that fails with all clients returns', async () => {
    project.cloudflare().on(after(ROUTES), breakNewest);
    const problem = await refused(['staging'], expect.arrayContaining([AT_100, ROUTES]));
    expect(problem).toContain(`staging serves ${old} to all`);
    expect(served(staging())).toBe(old);
    expect(JSON.stringify(staging().deployments)).not.toContain(`passed=${newest()}`);
    expect(staging().settings).not.toMatchObject({ observability: 'before' });
  });

  test('is refused where another version answers at its address', async () => {
    const { hosts } = project.cloudflare();
    const versions = [{ version_id: newest(), percentage: 100 }];
    hosts.set(HOST, { ...staging(), deployments: [{ id: 'another', versions }] });
    expect(await refused(['staging'])).toContain(`https://${HOST}/v1: health`);
    hosts.set(HOST, staging());
  });

  test('killed at 0 % leaves one version after a rollback', async () => {
    expect(await stopAt0('SIGKILL')).toMatchObject({ code: null });
    expect(served(staging())).toBe(`${newest()},${old}`);
    await release(...UNFINISHED);
    expect(served(staging())).toBe(old);
  });

  test('interrupted by Ctrl-C returns', async () => {
    const { code, stderr } = await stopAt0('SIGINT');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: interrupted; staging serves .* to all\n$/);
    expect(served(staging())).toBe(old);
  });

  test('stops where another operator has deployed since its check', async () => {
    project.cloudflare().on(after(UPLOAD), deployAsAnother);
    expect(await refused(['staging'], [UPLOAD])).toContain('nothing more is changed');
  });

  test('stops where another operator has rolled back before its last step', async () => {
    project.cloudflare().on(/^before POST .*deployments 100$/, deployAsAnother);
    const problem = await refused(['staging'], [UPLOAD, AT_0, AT_100]);
    expect(problem).toMatch(/another@animals.test has deployed 100 % of .*serves 100 % of/);
  });

  test('without a valid token halfway says which command goes back', async () => {
    const { tokens, on, env } = project.cloudflare();
    on(after(AT_0), () => tokens.clear());
    const problem = await refused(['staging'], [UPLOAD, AT_0]);
    expect(problem).toContain(`npx wrangler rollback ${old} --env staging`);
    expect(problem).not.toContain(env.CLOUDFLARE_API_TOKEN);
  });
});
