/** A promotion that is cut short anywhere is completed, or returned, by a command. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ADDRESS, PRODUCTION, releaseProject } from './release-project.ts';

const project = releaseProject();
const { production, release } = project;
const PROMOTE = ['promote', '--wait=0'];
const DEPLOYMENT = /^POST .*production\/deployments/;

const SCRIPT = `/workers/scripts/${PRODUCTION}`;
const UPLOAD = `POST ${SCRIPT}/versions`;
/** The calls of one command, partly at the same time. */
const TRIGGERS = ['POST subdomain', 'PUT domains/records', 'PUT schedules'].map((call) =>
  call.replace(' ', ` ${SCRIPT}/`),
);

let old: string;

/** Promotes, kills that after a call has taken effect, and returns the calls that changed something. */
async function changesUntilKilled(call: string): Promise<string[]> {
  const before = project.changes().length;
  await project.killed(PROMOTE, new RegExp(`${call.replace(' /', ' /accounts/\\w+/')}$`));
  return project.changes().slice(before);
}

function served() {
  return production().deployments.at(-1)?.versions;
}

beforeAll(async () => {
  await release('staging');
  // The very first promotion is killed, too, when there is a worker and nothing else.
  expect(await changesUntilKilled(`PUT ${SCRIPT}`)).toEqual([`PUT ${SCRIPT}`]);
  await release(...PROMOTE);
  old = production().versions.at(-1)?.id ?? '';
  await project.addMigration('add_note', 'ALTER TABLE pets ADD COLUMN note TEXT;');
  await release('staging');
});

const [at0 = '', at10 = '', at50 = '', at100 = '', settled = ''] = [
  '0/100',
  '10/90',
  '50/50',
  '100',
  '100 settled',
].map((shares) => `POST ${SCRIPT}/deployments ${shares}`);

describe('a promotion', { shuffle: false }, () => {
  test('killed after the upload', async () => {
    expect(await changesUntilKilled(UPLOAD)).toEqual([UPLOAD]);
  });

  test('then killed after the migration: nothing is uploaded again', async () => {
    const changes = await changesUntilKilled('query ALTER TABLE pets.*');
    expect(changes).toEqual([expect.stringContaining('ALTER TABLE pets ADD COLUMN note')]);
  });

  test('then killed at 0 % and at 10 %: it goes on from there', async () => {
    expect(await changesUntilKilled(at0)).toEqual([at0]);
    expect(await changesUntilKilled(at10)).toEqual([at0, at10]);
  });

  test('then ended by rollback --unfinished, after twelve such deployments, if it is of the commit', async () => {
    const { versions = [], annotations } = production().deployments.at(-1) ?? {};
    const message = annotations?.['workers/message'] ?? '';
    for (let count = 0; count < 12; count += 1) {
      await project.cloudflare().deploy(PRODUCTION, versions, message);
    }
    await release('rollback', '--unfinished', '--commit=another');
    expect(served()).toEqual(versions);
    const commit = await project.git('rev-parse', 'HEAD');
    const report = await release('rollback', '--unfinished', `--commit=${commit}`);
    expect(report).toContain('It passes the smoke test.');
    expect(served()).toEqual([{ version_id: old, percentage: 100 }]);
  });

  test('interrupted by Ctrl-C: it returns', async () => {
    const promotion = await project.start(PROMOTE);
    project.cloudflare().on(DEPLOYMENT, 'after', () => promotion.process.kill('SIGINT'));
    expect(await promotion.exited).toBe(1);
    expect(promotion.stdout()).toContain('Interrupted: ');
    expect(promotion.stderr()).toMatch(/^error: interrupted[^\n]*\n$/);
    expect(served()).toEqual([{ version_id: old, percentage: 100 }]);
  });

  test('killed at 50 %, at 100 %, as routes are attached, and when it is settled', async () => {
    expect(await changesUntilKilled(at50)).toEqual([at0, at10, at50]);
    expect(await changesUntilKilled(at100)).toEqual([at50, at100]);
    const [first, ...triggers] = await changesUntilKilled(`PUT ${SCRIPT}/domains/records`);
    expect([first, TRIGGERS]).toEqual([at100, expect.arrayContaining(triggers)]);
    const [again, ...changes] = await changesUntilKilled(settled);
    expect([again, changes.toSorted(), changes.at(-1)]).toEqual([
      at100,
      [settled, ...TRIGGERS].sort(),
      settled,
    ]);
  });

  test('then complete: the same bytes as on staging, uploaded once, at its address', async () => {
    await release(...PROMOTE);
    const { versions, deployments, domains, crons } = production();
    // The placeholder, the first release, and this one.
    expect(versions.length).toBe(3);
    expect(versions.at(-1)?.code).toBe(project.staging().versions.at(-1)?.code);
    expect(served()).toEqual([{ version_id: versions.at(-1)?.id, percentage: 100 }]);
    expect(deployments.at(-1)?.annotations['workers/message']).toMatch(/^settled release: tested/);
    expect([domains, crons]).toEqual([[ADDRESS], ['*/10 * * * *']]);
  });
});
