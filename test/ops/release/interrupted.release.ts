/** A promotion that fails, is killed or meets another operator: what is served then, and what ends it. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { after, PRODUCTION, PROMOTE, releaseProject } from './release-project.ts';

const project = releaseProject();
const { production, refused, release } = project;
const [UPLOAD, AT_0, AT_10, ROUTES, ONE] = [
  'POST versions',
  'POST deployments 0/100',
  'POST deployments 10/90',
  'PUT domains/records',
  'POST deployments 100',
] as const;
let old: string;

/** What all requests get, or a list of the versions. */
const served = () => {
  const versions = production().deployments.at(-1)?.versions ?? [];
  return versions.map(({ version_id }) => version_id).join();
};
const newest = () => production().versions.at(-1)?.id ?? '';
const UNFINISHED = ['rollback', 'unfinished', '--env=production', '--yes'];
const deployAsAnother = () => {
  const shares = [{ version_id: old, percentage: 100 }];
  project.cloudflare().deploy(PRODUCTION, shares, {}, 'another@animals.test');
};

beforeAll(async () => {
  await release('first', '--env=staging');
  await release('first', '--env=production', '--yes');
});
beforeEach(() => {
  old = served();
});

describe('a promotion', { shuffle: false }, () => {
  test('killed at 0 % leaves one version after a rollback', async () => {
    await project.killed(PROMOTE, AT_0);
    expect(await refused(PROMOTE)).toContain('release -- rollback unfinished --env production');
    await release(...UNFINISHED);
    expect(served()).toBe(old);
  });

  test('that fails at 0 % returns, no client is served by it, and no settings change', async () => {
    const { broken, on } = project.cloudflare();
    on(after(UPLOAD), () => void broken.add(newest()));
    production().settings = { observability: 'before' };
    const problem = await refused(PROMOTE, [UPLOAD, AT_0, ONE]);
    expect(problem).toMatch(
      new RegExp(`^error: POST /pets: .*500.*production serves ${old} to all`),
    );
    expect(project.cloudflare().served).not.toContain(newest());
    expect(production().settings).toMatchObject({ observability: 'before' });
  });

  test('that fails with all clients returns, also if a command failed after it took effect', async () => {
    const { broken, failNext, on } = project.cloudflare();
    failNext(after(AT_0));
    on(after(ROUTES), () => void broken.add(newest()));
    const problem = await refused(PROMOTE, expect.arrayContaining([AT_10, ROUTES]));
    expect(problem).toContain(`production serves ${old} to all`);
    expect(served()).toBe(old);
  });

  test('that fails for clients while a share is held returns', async () => {
    const { broken, on } = project.cloudflare();
    on(after(AT_10), () => void broken.add(newest()).add(old));
    expect(await refused(PROMOTE, [UPLOAD, AT_0, AT_10, ONE])).toContain(`serves ${old} to all`);
    broken.clear();
  });

  test('interrupted by Ctrl-C returns', async () => {
    const promotion = project.start(PROMOTE);
    project.cloudflare().on(after(AT_0), () => void promotion.process.kill('SIGINT'));
    expect(await promotion.exited).toBe(1);
    expect(promotion.stderr()).toMatch(/^error: interrupted; production serves .* to all\n$/);
    expect(served()).toBe(old);
  });

  test('stops where another operator has rolled back during it', async () => {
    const { on } = project.cloudflare();
    // After the list is read again, while the share is held.
    on(after(AT_10), () => on(/^after GET .*deployments$/, deployAsAnother));
    expect(await refused(PROMOTE, [UPLOAD, AT_0, AT_10])).toContain('nothing more is changed');
    expect(served()).toBe(old);
  });

  test('stops where another operator has deployed before its last step', async () => {
    project.cloudflare().on(/^before POST .*deployments 100$/, deployAsAnother);
    const problem = await refused(PROMOTE, [UPLOAD, AT_0, AT_10, ONE]);
    expect(problem).toMatch(/another@animals.test has deployed 100 % of .*serves 100 % of/);
    expect(await release(...UNFINISHED)).toContain(`already serves 100 % of ${newest()}`);
  });

  test('without a valid token halfway says which command goes back', async () => {
    const { setToken, on, env } = project.cloudflare();
    on(after(AT_0), () => setToken('another'));
    const problem = await refused(PROMOTE, [UPLOAD, AT_0]);
    expect(problem).toContain(`npx wrangler rollback ${old} --env production`);
    expect(problem).not.toContain(env.CLOUDFLARE_API_TOKEN);
  });
});
