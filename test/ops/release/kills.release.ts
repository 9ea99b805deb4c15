/** A promotion that is cut short anywhere is completed, or returned, by a command. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ADDRESS, PRODUCTION, releaseProject } from './release-project.ts';

const project = releaseProject();
const { production, release } = project;
const PROMOTE = ['promote', '--wait=0'];
const DEPLOYMENT = /^POST .*production\/deployments/;

const SCRIPT = `/workers/scripts/${PRODUCTION}`;
const UPLOAD = `POST ${SCRIPT}/versions`;
const TRIGGERS = [
  `POST ${SCRIPT}/subdomain`,
  `PUT ${SCRIPT}/domains/records`,
  `PUT ${SCRIPT}/schedules`,
];

let old: string;

/**
 * Promotes, kills that after a call has taken effect, and returns the calls that changed something: but for routes and
 * crons, which every run attaches.
 */
async function changesUntilKilled(call: string): Promise<string[]> {
  const before = project.changes().length;
  await project.killed(PROMOTE, new RegExp(call.replace(' /', ' /accounts/\\w+/')));
  return project
    .changes()
    .slice(before)
    .filter((each) => !TRIGGERS.includes(each));
}

function served() {
  return production().deployments.at(-1)?.versions;
}

beforeAll(async () => {
  await release('staging');
  // The very first promotion is killed, too, when there is a worker and nothing else.
  expect(await changesUntilKilled(`PUT ${SCRIPT}$`)).toEqual([`PUT ${SCRIPT}`]);
  await release(...PROMOTE);
  old = production().versions.at(-1)?.id ?? '';
  await project.addMigration('add_note', 'ALTER TABLE pets ADD COLUMN note TEXT;');
  await release('staging');
});

describe('a promotion', { shuffle: false }, () => {
  test('killed after the upload', async () => {
    expect(await changesUntilKilled(`${UPLOAD}$`)).toEqual([UPLOAD]);
  });

  test('then killed after the migration: nothing is uploaded again', async () => {
    const changes = await changesUntilKilled('query ALTER TABLE pets');
    expect(changes).toEqual([expect.stringContaining('ALTER TABLE pets ADD COLUMN note')]);
  });

  test.each(TRIGGERS)('then killed after %s: nothing is migrated again', async (trigger) => {
    expect(await changesUntilKilled(`${trigger}$`)).toEqual([]);
  });

  test.each(['0/100', '10/90'])('then killed at %s: it goes on from there', async (shares) => {
    const deployment = `POST ${SCRIPT}/deployments ${shares}`;
    expect(await changesUntilKilled(`${deployment}$`)).toEqual([deployment]);
  });

  test('then returned by rollback --unfinished, which does nothing the second time', async () => {
    await release('rollback', '--unfinished');
    expect(served()).toEqual([{ version_id: old, percentage: 100 }]);
    const { length } = production().deployments;
    await release('rollback', '--unfinished');
    expect(production().deployments.length).toBe(length);
  });

  test('begun again while another operator deploys: what that one deployed stays', async () => {
    const { on, deploy } = project.cloudflare();
    const [placeholder] = production().versions;
    const others = [{ version_id: placeholder?.id ?? '', percentage: 100 }];
    on(DEPLOYMENT, 'after', () =>
      on(/^GET .*production\/deployments$/, 'before', () => deploy(PRODUCTION, others, 'mine')),
    );
    const problem = await project.refused(...PROMOTE);
    expect(problem).toContain('another operator');
    expect(production().deployments.at(-1)?.annotations['workers/message']).toBe('mine');
    await deploy(PRODUCTION, [{ version_id: old, percentage: 100 }], 'mine, too');
  });

  test('interrupted by Ctrl-C: it returns', async () => {
    const promotion = await project.start(PROMOTE);
    project.cloudflare().on(DEPLOYMENT, 'after', () => promotion.process.kill('SIGINT'));
    expect(await promotion.exited).toBe(1);
    expect(promotion.stderr()).toMatch(/^error: interrupted[^\n]*\n$/);
    expect(served()).toEqual([{ version_id: old, percentage: 100 }]);
  });

  test('failing at 10 %, and told of a failure when it has returned: it reads what is deployed', async () => {
    const { on, failNext } = project.cloudflare();
    on(DEPLOYMENT, 'after', () => {
      failNext(DEPLOYMENT);
      failNext(DEPLOYMENT, 'after');
    });
    const problem = await project.refused(...PROMOTE);
    expect(problem).toContain(`production serves ${old} to all`);
    expect(served()).toEqual([{ version_id: old, percentage: 100 }]);
  });

  test('killed at 50 %, at 100 %, and when it is settled', async () => {
    const deployments = ['0/100', '10/90', '50/50', '100'].map(
      (shares) => `POST ${SCRIPT}/deployments ${shares}`,
    );
    const [, , at50, at100] = deployments;
    expect(await changesUntilKilled(`${at50}$`)).toEqual(deployments.slice(0, 3));
    expect(await changesUntilKilled(`${at100}$`)).toEqual([at100]);
    expect(await changesUntilKilled(`${at100}$`)).toEqual([at100]);
  });

  test('then complete: the same bytes as on staging, uploaded once, at its address', async () => {
    await release(...PROMOTE);
    const { versions, deployments, domains, crons } = production();
    // The placeholder, the first release, and this one.
    expect(versions.length).toBe(3);
    expect(versions.at(-1)?.code).toBe(project.staging().versions.at(-1)?.code);
    expect(served()).toEqual([{ version_id: versions.at(-1)?.id, percentage: 100 }]);
    expect(deployments.at(-1)?.annotations['workers/message']).toMatch(
      /^settled release: promoted/,
    );
    expect([domains, crons]).toEqual([[ADDRESS], ['*/10 * * * *']]);
  });
});
