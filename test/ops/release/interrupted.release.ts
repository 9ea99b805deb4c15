/** A promotion that fails, is killed or meets another operator: what is served then, and what ends it. */
import { beforeAll, describe, expect, test } from 'vitest';
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

/** What all requests get. Undefined if there is more than one version. */
function served(): string | undefined {
  const [share, ...others] = production().deployments.at(-1)?.versions ?? [];
  return others.length === 0 ? share?.version_id : undefined;
}

const newest = () => production().versions.at(-1)?.id ?? '';
const rollback = (...args: string[]) => release('rollback', ...args, '--env=production', '--yes');
const deployAsAnother = (version_id: string) => () => {
  const shares = [{ version_id, percentage: 100 }];
  project.cloudflare().deploy(PRODUCTION, shares, {}, 'another@animals.test');
};

beforeAll(async () => {
  await release('first', '--env=staging');
  await release('first', '--env=production', '--yes');
  await project.commit('public/note.txt', () => 'note');
  await release('staging');
  old = newest();
});

describe('a promotion', { shuffle: false }, () => {
  test.each([
    ['at 0 %', AT_0],
    ['at 10 %', AT_10],
  ])('killed %s is refused until a rollback ends it', async (_, call) => {
    await project.killed(PROMOTE, call);
    expect(served()).toBeUndefined();
    const end = 'npm run release -- rollback unfinished --env production';
    expect(await refused(PROMOTE)).toContain(end);
    expect(await rollback('unfinished')).toContain(`serves ${old} to all`);
    expect(served()).toBe(old);
  });

  test.each([
    ['after its upload', UPLOAD],
    ['as routes are attached', ROUTES],
  ])('killed %s leaves one version that serves all', async (_, call) => {
    await project.killed(PROMOTE, call);
    expect(served()).toBe(call === UPLOAD ? old : newest());
    await rollback(old);
  });

  test('that fails at 0 % returns, no client is served by it, and it needs --force', async () => {
    const { broken, on } = project.cloudflare();
    on(after(UPLOAD), () => void broken.add(newest()));
    const problem = await refused(PROMOTE, [UPLOAD, AT_0, ONE]);
    expect(problem).toMatch(new RegExp(`/pets: .*500.*production serves ${old} to all`));
    expect(project.cloudflare().served).not.toContain(newest());
    const again = ['rollback', newest(), '--env=production', '--yes'];
    expect(await refused(again)).toContain(`${newest()} failed its tests`);
  });

  test('that fails with all clients returns', async () => {
    const { broken, on } = project.cloudflare();
    on(after(ROUTES), () => void broken.add(newest()));
    expect(await refused(PROMOTE, expect.anything())).toContain(`production serves ${old} to all`);
    expect(served()).toBe(old);
  });

  test('interrupted by Ctrl-C, while a command fails after it took effect: it returns', async () => {
    const promotion = await project.start(PROMOTE);
    project.cloudflare().on(after(AT_10), () => void promotion.process.kill('SIGINT'));
    project.cloudflare().failNext(after(AT_0));
    expect(await promotion.exited).toBe(1);
    expect(promotion.stderr()).toMatch(/^error: interrupted; production serves .* to all\n$/);
    expect(served()).toBe(old);
  });

  test('stops where another operator has deployed before it', async () => {
    project.cloudflare().on(/^before POST .*deployments 0\/100$/, deployAsAnother(old));
    const problem = await refused(PROMOTE, [UPLOAD, AT_0]);
    expect(problem).toMatch(
      /another@animals.test has deployed 100 % of .*production serves 0 % of/,
    );
    await rollback(old);
  });

  test('stops where another operator has rolled back during it', async () => {
    project.cloudflare().on(after(AT_10), deployAsAnother(old));
    expect(await refused(PROMOTE, [UPLOAD, AT_0, AT_10])).toContain('nothing more is changed');
    expect(served()).toBe(old);
  });

  test('without a valid token halfway says which command goes back', async () => {
    const { setToken, on, env } = project.cloudflare();
    on(after(AT_10), () => setToken('another'));
    const problem = await refused(PROMOTE, [UPLOAD, AT_0, AT_10]);
    expect(problem).toContain(`npx wrangler rollback ${old} --env production`);
    expect(problem).not.toContain(env.CLOUDFLARE_API_TOKEN);
    setToken(env.CLOUDFLARE_API_TOKEN);
    await rollback(old);
  });
});
