/** A promotion that is cut short anywhere is completed, or returned, by a command; other operators' stay. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ADDRESS, PRODUCTION, PROMOTE, releaseProject } from './release-project.ts';

const project = releaseProject();
const { production, refused, release } = project;

const [UPLOAD, MIGRATE] = ['POST versions', 'POST query ALTER TABLE pets ADD COLUMN'];
/** The calls of one command, partly at the same time. */
const TRIGGERS = ['POST subdomain', 'PUT domains/records', 'PUT schedules'];
const [AT_0, AT_10, AT_50, AT_100, SETTLED] = [
  'POST deployments 0/100',
  'POST deployments 10/90',
  'POST deployments 50/50',
  'POST deployments 100',
  'POST deployments 100 settled',
] as const;

let old: string;

const after = (call: string) => new RegExp(`^after ${call.replace(' ', ' .*')}$`);

/** What an action changed at Cloudflare, the triggers in one. */
async function changesOf(action: () => Promise<unknown>): Promise<string[]> {
  const before = project.changes().length;
  await action();
  const calls = project.changes().slice(before);
  const changes = calls.map((call) => (TRIGGERS.includes(call) ? 'triggers' : call));
  return changes.filter((call, index) => call !== 'triggers' || changes[index - 1] !== call);
}

const changesUntilKilled = (call: string) => changesOf(() => project.killed(PROMOTE, after(call)));

/** Promotes, and presses Ctrl-C when a call has taken effect. */
const changesUntilInterrupted = (call: string) =>
  changesOf(async () => {
    const promotion = await project.start(PROMOTE);
    project.cloudflare().on(after(call), () => void promotion.process.kill('SIGINT'));
    expect(await promotion.exited).toBe(1);
    expect(promotion.stdout()).toContain('Interrupted: ');
    expect(promotion.stderr()).toMatch(/^error: interrupted[^\n]*\n$/);
  });

/** Deploys equal shares of versions, as another operator would. */
function deployByHand(...ids: string[]): void {
  const shares = ids.map((version_id) => ({ version_id, percentage: 100 / ids.length }));
  project.cloudflare().deploy(PRODUCTION, shares, 'mine');
}

const served = () => production().deployments.at(-1)?.versions;
const toAll = (version_id: unknown) => [{ version_id, percentage: 100 }];
const twelveOfLast = <T>(list: T[]) => list.slice(-1).flatMap((last) => Array<T>(12).fill(last));

beforeAll(async () => {
  await release('staging');
  // The very first promotion is killed, too, when there is a worker and nothing else.
  expect(await changesUntilKilled('PUT ')).toEqual(['PUT ']);
  await release(...PROMOTE);
  old = production().versions.at(-1)?.id ?? '';
  await project.addMigration('add_note', 'ALTER TABLE pets ADD COLUMN note TEXT;');
  await release('staging');
});

describe('a promotion', { shuffle: false }, () => {
  test.each([
    ['its upload', UPLOAD, [UPLOAD]],
    ['its migration', MIGRATE, [MIGRATE]],
  ])('killed after %s', async (_, call, changes) => {
    expect(await changesUntilKilled(call)).toEqual(changes);
  });

  test('interrupted by Ctrl-C, while a command fails after it took effect: it returns', async () => {
    project.cloudflare().failNext(after(AT_0));
    expect(await changesUntilInterrupted(AT_0)).toEqual([AT_0, SETTLED]);
    expect(served()).toEqual(toAll(old));
  });

  test('in which another operator deploys: that stays', async () => {
    const uploaded = production().versions.at(-1)?.id ?? '';
    project.cloudflare().on(after(AT_0), () => deployByHand(old, uploaded));
    const stays = /another operator has deployed; .* which another operator deployed/;
    const changes = await changesOf(async () => expect(await refused(...PROMOTE)).toMatch(stays));
    expect(changes).toEqual([AT_0]);
    expect(served()).toMatchObject([{ version_id: old }, { version_id: uploaded }]);
    deployByHand(old);
  });

  test('killed at 0 %: a run that is interrupted as it prepares leaves that', async () => {
    expect(await changesUntilKilled(AT_0)).toEqual([AT_0]);
    expect(await changesUntilInterrupted('GET time_travel/bookmark')).toEqual([]);
  });

  test('then ended by rollback --unfinished, if it is of the commit; ten of twelve deployments and versions are listed', async () => {
    const unfinished = served();
    const { versions, deployments } = production();
    versions.push(...twelveOfLast(versions));
    deployments.push(...twelveOfLast(deployments));
    await release('rollback', '--unfinished', '--commit=another');
    expect(served()).toEqual(unfinished);
    const commit = await project.git('rev-parse', 'HEAD');
    const report = await release('rollback', '--unfinished', `--commit=${commit}`);
    expect(report).toContain('The smoke test passed.');
    expect(served()).toEqual(toAll(old));
    versions.splice(-12);
  });

  test.each([
    ['at 10 %', AT_10, [AT_0, AT_10]],
    ['at 50 %', AT_50, [AT_10, AT_50]],
    ['at 100 %', AT_100, [AT_50, AT_100]],
    ['as routes are attached', 'PUT domains/records', [AT_100, 'triggers']],
    ['when it is settled', SETTLED, [AT_100, 'triggers', SETTLED]],
  ])('killed %s: it goes on from there', async (_, call, changes) => {
    expect(await changesUntilKilled(call)).toEqual(changes);
  });

  test('then complete: the same bytes as on staging, uploaded once, at its address', async () => {
    await release(...PROMOTE);
    const { versions, deployments, domains, crons } = production();
    // The placeholder, the first release, and this one.
    expect(versions.length).toBe(3);
    expect(versions.at(-1)?.code).toBe(project.staging().versions.at(-1)?.code);
    expect(served()).toEqual(toAll(versions.at(-1)?.id));
    expect(deployments.at(-1)?.annotations['workers/message']).toMatch(/^settled release: tested/);
    expect([domains, crons]).toEqual([[ADDRESS], ['*/10 * * * *']]);
  });
});
