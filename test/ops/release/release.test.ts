/** Releases in this process, against a fake: a promotion with every event at every point, every refusal, and the ways back. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Result } from '../../support/project.ts';
import { type Fake, fakeRelease, HEAD, NEW, OLD, OTHER } from './fake-release.ts';

let fake: Fake;

beforeEach(() => {
  fake = fakeRelease();
});

const PROMOTE = ['promote', '--yes', '--run', 'mine', '--hold', '20'];
const STAGING = ['staging', '--run', 'mine'];
const ROLLBACK = ['rollback', OLD, '--env', 'production', '--yes'];
const UNDO = ['undo', 'mine', '--env', 'production', '--yes'];

const UPLOAD = 'versions upload';
const MIGRATE = 'd1 migrations apply DB --remote';
const AT_0 = `versions deploy ${NEW}@0% ${OLD}@100%`;
const AT_10 = `versions deploy ${NEW}@10% ${OLD}@90%`;
const AT_100 = `versions deploy ${NEW}@100%`;
const TRIGGERS = 'triggers deploy';
const BACK = `rollback ${OLD}`;
/** What production serves at 10 %. */
const SHARED = `${NEW}@10% ${OLD}@90%`;
const TO_OLD = `${OLD}@100%`;
const TO_NEW = `${NEW}@100%`;
const TO_OTHER = `${OTHER}@100%`;

const before = (step: string) => `before production ${step}`;
const after = (step: string) => `after production ${step}`;
const LIST = 'production deployments list';
const READS_OLD = `reads production ${OLD}`;
const READS_NEW = `reads production ${NEW}`;
const BY_OVERRIDE = `${READS_NEW} by override store-production="${NEW}"`;
const PAUSE = 'pause 10000';
const SETTLE = 'pause 15000';
const WATCH = `watch production ${NEW}`;

/** Before each change: nothing else was checked out, and nobody else has deployed. */
const GUARD = ['HEAD', LIST];
const TESTED = ['staging deployments list', `staging versions view ${OLD}`];
const change = (step: string) => [...GUARD, before(step), after(step)];
const deploy = (step: string) => [...change(step), ...GUARD];

/** All that a promotion passes. */
const PROMOTION = [
  ...['HEAD', 'build', ...TESTED, LIST, `production versions view ${OLD}`, READS_OLD],
  ...['confirm', ...TESTED],
  ...[...change(UPLOAD), `production versions view ${NEW}`],
  ...[...GUARD, 'production d1 time-travel info DB', before(MIGRATE), after(MIGRATE)],
  ...[...deploy(AT_0), BY_OVERRIDE, WATCH],
  ...[...deploy(AT_10), BY_OVERRIDE, PAUSE, 'log', BY_OVERRIDE, PAUSE, 'log', BY_OVERRIDE],
  ...[...deploy(AT_100), READS_NEW],
  ...[...change(TRIGGERS), READS_NEW, ...GUARD],
];
const FIRST_CHANGE = PROMOTION.indexOf(before(UPLOAD)) - GUARD.length;
const FIRST_DEPLOYMENT = PROMOTION.indexOf(before(AT_0));

const fail = () => {
  throw new Error('it failed');
};
const interrupt = () => fake.interrupt();
/** Another operator serves another version. */
const overtake = () => fake.deploy('production', TO_OTHER);
const checkOut = () => {
  fake.git['rev-parse'] = 'd'.repeat(40);
};
/** The newest deployment of production is not seen. */
const dropDeployment = () => fake.environments.production.deployments.pop();

const lastLine = ({ stderr }: Result) => stderr.trimEnd().split('\n').at(-1) ?? '';

/** Runs a command that must fail. Returns the last line of standard error. */
async function failing(args: string[], options?: { answer?: string }): Promise<string> {
  const result = await fake.release(args, options);
  expect(result.code).toBe(1);
  return lastLine(result);
}

type Check = (result: Result, place: string, i: number) => void;

/**
 * Runs a command once for each point that it passes undisturbed, with an event there. After any, no build and no watch of the
 * log may be left.
 */
async function disturb(args: string[], given: () => unknown, event: () => unknown, check: Check) {
  given();
  await fake.release(args);
  for (const [i, point] of [...fake.points].entries()) {
    fake = fakeRelease();
    given();
    fake.at(i, event);
    const result = await fake.release(args);
    expect([fake.folders.size, fake.isWatching()], `${i} ${point}`).toEqual([0, false]);
    check(result, `${i} ${point}`, i);
  }
}

describe('a promotion', () => {
  test('is tested by override for its time at 10 %, and then serves all', async () => {
    const { code, stdout, stderr } = await fake.release(PROMOTE);
    expect([code, stderr]).toEqual([0, '']);
    const restore = 'npx wrangler d1 time-travel restore DB --env production --bookmark a-bookmark';
    expect(stdout).toContain(`To restore the data: ${restore}\n`);
    expect(stdout).toContain('Holding 10 %.');
    expect(stdout).toMatch(/production serves new to all\.\n$/);
    expect(fake.points).toEqual(PROMOTION);
    expect(fake.environments.production).toMatchObject({
      annotations: { 'workers/tag': HEAD, 'workers/message': expect.stringMatching(/^\w{64}$/) },
      // Of the release: by this, it tells its deployments from those of others.
      deployments: [{}, ...Array(3).fill({ message: 'mine' })],
    });
    expect(fake.gitCalls).toEqual(
      new Set([
        'status --porcelain --untracked-files=all',
        'ls-files --others --ignored --exclude-standard src public migrations',
        'rev-parse HEAD',
        `merge-base --is-ancestor ${HEAD} ${HEAD}`,
      ]),
    );
    // Ctrl-C does not end wrangler, and a hang does not last.
    expect(fake.processOptions).toEqual(new Set(['{"detached":true,"timeout":300000}']));
  });

  /** As `disturb`. Only a success has the exit code 0, and says nothing on standard error. */
  const atEachPoint = (event: () => unknown, check: Check) =>
    disturb(
      PROMOTE,
      () => {},
      event,
      (result, place, i) => {
        expect(fake.served('production'), place).toMatch(/^\w+@100%$/);
        expect(result.code === 0, place).toBe(result.stderr === '');
        if (result.code === 0) expect(result.stdout).toMatch(/production serves new to all\.\n$/);
        check(result, place, i);
      },
    );

  /** How the error ends when the release goes back at this point. */
  function endAt(i: number): string {
    if (i < FIRST_CHANGE) return '';
    return i < FIRST_DEPLOYMENT ? '; no version was deployed' : `; production serves ${TO_OLD}`;
  }

  /** The change that follows a point before the next one of `checks`. */
  function changeAfter(i: number, checks: string[]): string[] {
    const isEnd = (point: string) => checks.includes(point) || point.startsWith('after');
    const end = PROMOTION.slice(i + 1).find(isEnd) ?? '';
    return end.startsWith('after') ? [end.replace('after production ', '')] : [];
  }

  /** Failures with which it goes on, and the command that it names at its end, if any. */
  const HARMLESS: Record<string, string> = {
    [after(AT_0)]: '',
    [after(AT_10)]: '',
    [after(AT_100)]: AT_100,
    [before(TRIGGERS)]: TRIGGERS,
    [after(TRIGGERS)]: TRIGGERS,
  };

  test('that fails once at any point is back at the old version, or goes on', async () => {
    await atEachPoint(fail, (result, place, i) => {
      const point = PROMOTION[i] ?? '';
      const command = / (list|view|info) ?/.test(point) ? '' : HARMLESS[point];
      const fix = command && `. Run: npx wrangler ${command} --env production`;
      const end = fix ?? endAt(i);
      if (end) expect(lastLine(result), place).toMatch(new RegExp(`^error: it failed.*${end}$`));
      expect(result.code === 0, place).toBe(fix === '');
      expect(fake.served('production'), place).toBe(fix === undefined ? TO_OLD : TO_NEW);
    });
  });

  test('that is interrupted at any point ends the change under way, and goes back', async () => {
    await atEachPoint(interrupt, (result, place, i) => {
      // It looks before each change, and then reads HEAD.
      const noticedAt = PROMOTION.indexOf('HEAD', i + 1);
      if (noticedAt < 0) return expect(result.code, place).toBe(0);
      const end = i <= PROMOTION.indexOf('confirm') ? '' : endAt(noticedAt);
      expect(lastLine(result), place).toBe(`error: interrupted${end}`);
      const back = noticedAt < FIRST_DEPLOYMENT ? [] : [BACK];
      expect(fake.changes(i + 1), place).toEqual([...changeAfter(i, ['HEAD']), ...back]);
      expect(fake.served('production'), place).toBe(TO_OLD);
    });
  });

  test('that is overtaken by another operator at any point gives way', async () => {
    await atEachPoint(overtake, (result, place, i) => {
      // It begins after that.
      if (i <= PROMOTION.indexOf(LIST)) return expect(result.code, place).toBe(0);
      expect(lastLine(result), place).toContain(`berta deployed ${TO_OTHER} (message: by hand); `);
      const begun = PROMOTION[i] === LIST ? [] : changeAfter(i, GUARD);
      const back = begun[0]?.startsWith('versions deploy') ? [`rollback ${OTHER}`] : [];
      expect(fake.changes(i + 1), place).toEqual([...begun, ...back]);
      expect(fake.served('production'), place).toBe(TO_OTHER);
    });
  });

  test('that finds another commit checked out at any point goes back', async () => {
    await atEachPoint(checkOut, (result, place, i) => {
      const noticedAt = PROMOTION.indexOf('HEAD', i);
      if (noticedAt < 0) return expect(result.code, place).toBe(0);
      const error = i === 0 ? 'staging does not serve HEAD' : 'another commit was checked out';
      expect(lastLine(result), place).toContain(error);
      expect(lastLine(result), place).toContain(endAt(i === 0 ? 0 : noticedAt));
      expect(fake.changes(noticedAt), place).toEqual(noticedAt < FIRST_DEPLOYMENT ? [] : [BACK]);
      expect(fake.served('production'), place).toBe(TO_OLD);
    });
  });
});

describe('a promotion with options', () => {
  test('holds 10 % for five minutes by default', async () => {
    await fake.release(['promote', '--yes']);
    expect(fake.points.filter((point) => point === PAUSE)).toHaveLength(30);
  });

  test('holds 10 % for exactly the seconds of --hold', async () => {
    await fake.release(['promote', '--yes', '--hold', '15']);
    const pauses = fake.points.filter((point) => point.startsWith('pause'));
    expect(pauses).toEqual([PAUSE, 'pause 5000']);
  });

  test.each([
    ['--hold', '0'],
    ['--hold', '20', '--unwatched'],
  ])('does not watch the log with %s %s %s', async (...options) => {
    await fake.release(['promote', '--yes', ...options]);
    expect(fake.points).not.toContain(WATCH);
    expect(fake.served('production')).toBe(TO_NEW);
  });

  test.each([
    ['y\n', 0, TO_NEW],
    [' YES \n', 0, TO_NEW],
    ['\n', 1, TO_OLD],
    ['not yes\n', 1, TO_OLD],
    ['yesterday\n', 1, TO_OLD],
  ])('at the answer %j exits with %d and serves %s', async (answer, code, shares) => {
    expect(await fake.release(['promote', '--hold', '0'], { answer })).toMatchObject({ code });
    expect(fake.served('production')).toBe(shares);
  });

  test('without a terminal and --yes is refused', async () => {
    expect(await failing(['promote'])).toContain('add --yes');
    expect(fake.changes()).toEqual([]);
  });
});

describe('a release to staging', () => {
  test('is tested with every operation, without a share', async () => {
    expect(await fake.release(STAGING)).toMatchObject({ code: 0, stderr: '' });
    expect(fake.changes()).toEqual([UPLOAD, MIGRATE, AT_0, AT_100, TRIGGERS]);
    expect(fake.points.filter((point) => /^(reads|all) /.test(point))).toEqual([
      `reads staging ${OLD}`,
      `all staging ${NEW} by override store-staging="${NEW}"`,
      ...Array(2).fill(`all staging ${NEW}`),
    ]);
  });

  test('may be at workers.dev', async () => {
    const BASE_URL = 'https://store-staging.animals.workers.dev/v1';
    const { config, bindings } = fake.environments.staging;
    Object.assign(config, { workers_dev: true, routes: [], vars: { BASE_URL } });
    Object.assign(bindings, { BASE_URL });
    expect(await fake.release(STAGING)).toMatchObject({ code: 0, stderr: '' });
  });

  test('has another id each time by default', async () => {
    for (const _ of [1, 2]) await fake.release(['staging']);
    const messages = fake.environments.staging.deployments.map(({ message }) => message);
    // The first deployment is of neither.
    expect(new Set(messages).size).toBe(3);
  });

  test.each([
    ['says that it goes back in history', 'exit 1', HEAD, true],
    ['does not know an older history', 'exit 128', HEAD, false],
    ['does not know the served commit', 'exit 1', undefined, false],
  ])('%s', async (_, history, commit, isBack) => {
    fake.git['merge-base'] = history;
    Object.assign(fake.environments.staging.annotations, { 'workers/tag': commit });
    const { stdout } = await fake.release(STAGING);
    expect(stdout).toContain(`The served commit is ${commit ?? 'unknown'} and the release is`);
    expect(stdout.includes('It goes BACK in history')).toBe(isBack);
  });

  test('resumes writes with --resume-writes', async () => {
    fake.environments.staging.versionsWithStoppedWrites.push(OLD);
    expect(await fake.release([...STAGING, '--resume-writes'])).toMatchObject({ code: 0 });
  });
});

describe('a promotion that must not begin', () => {
  const production = () => fake.environments.production;
  const staging = () => fake.environments.staging;
  const setGit = (name: keyof Fake['git'], output: string) => () => {
    fake.git[name] = output;
  };
  const bind = (name: 'DB' | 'API_KEYS' | 'BASE_URL') => () => {
    production().bindings[name] = 'https://another.test';
  };
  const share = (name: 'vars' | 'd1_databases' | 'kv_namespaces') => () =>
    Object.assign(staging().config, { [name]: production().config[name] });
  const rollStagingBack = () => {
    staging().annotations['workers/tag'] = 'an older commit';
  };
  const addRoute = () =>
    production().config.routes.push({ pattern: 'another.test', custom_domain: true });

  test.each<[title: string, given: () => unknown, error: RegExp]>([
    ['outside of a git repository', setGit('status', 'exit 128'), /git is required\. In a copy/],
    ['with changed files', setGit('status', ' M src/app.ts'), /remove first: M src/],
    ['with an ignored file', setGit('ls-files', 'src/a.ts'), /remove first: src/],
    ['of other bytes', () => (fake.script = 'other'), /the build differs from staging's/],
    [
      'during a release to staging',
      () => fake.deploy('staging', SHARED),
      /is unfinished on staging: time 1 /,
    ],
    [
      'during a release',
      () => fake.deploy('production', SHARED),
      /unfinished on production: time 1 berta deployed new@10% old@90% .message: by hand.. "Unfin/,
    ],
    [
      'with the id of another release',
      () => fake.deploy('production', TO_OLD, 'mine'),
      /an earlier release has the id mine: ch/,
    ],
    ['with another database', bind('DB'), /DB = .* is not in old: "Move a store"/],
    ['with another KV namespace', bind('API_KEYS'), /API_KEYS = .* is not in/],
    ['with another address', bind('BASE_URL'), /BASE_URL = .* is not in/],
    ['with a shared database', share('d1_databases'), /DB = .* is of both/],
    ['with a shared KV namespace', share('kv_namespaces'), /API_KEYS = .* is of both/],
    ['with a shared address', share('vars'), /only route must be|of both/],
    ['with another route', addRoute, /only route must be/],
    [
      'whose staging is rolled back meanwhile',
      () => fake.at(READS_OLD, rollStagingBack),
      /not serve HEAD/,
    ],
    [
      'after a change in the dashboard',
      () => (production().isChanged = true),
      /changed in the dashboard/,
    ],
    ['whose reads fail twice', () => fake.at(LIST, fail, 2), /it failed/],
  ])('%s is refused', async (_, given, error) => {
    given();
    expect(await failing(PROMOTE)).toMatch(error);
    expect(fake.changes()).toEqual([]);
  });

  test.each<[title: string, given: () => unknown, args: string[], error: RegExp]>([
    [
      'would resume writes',
      () => production().versionsWithStoppedWrites.push(OLD),
      PROMOTE,
      /new would resume writes: "Stop writes" in/,
    ],
    [
      'would stop writes',
      () => production().versionsWithStoppedWrites.push(NEW),
      [...PROMOTE, '--resume-writes'],
      /new would stop writes: "Stop writes" in/,
    ],
    [
      'has no bookmark to which the data can be restored',
      () => (production().bookmark = undefined),
      PROMOTE,
      /wrangler names no bookmark/,
    ],
    [
      'is answered with another version',
      () => (production().answeredVersions = { [NEW]: OTHER }),
      PROMOTE,
      /Cloudflare answers with the version other instead of new/,
    ],
    [
      'has a migration without success, although wrangler has',
      () => Object.assign(production(), { migrations: '│ 0004_a.sql │ ❌ │\n│ 0005.sql │ ✅ │' }),
      PROMOTE,
      /a migration failed: .* 0004_a.sql │ ❌ /,
    ],
  ])('and %s deploys nothing', async (_, given, args, error) => {
    given();
    const end = await failing(args);
    expect(end).toMatch(error);
    expect(end).toContain('; no version was deployed');
    expect(fake.served('production')).toBe(TO_OLD);
  });
});

describe('a promotion that goes back', () => {
  /** The step takes effect only while the release waits for that, on its way back. */
  const takesEffectLate = (step: string) => () =>
    fake.at(before(step), () => {
      fake.at(SETTLE, () => fake.deploy('production', TO_NEW, 'mine', 'me'));
      throw new Error('timed out');
    });
  /** Another process runs `undo mine`. */
  const undo = () => fake.deploy('production', TO_OLD, 'mine', 'me');
  const failAtPause = () => fake.at(PAUSE, fail);
  const promoteByHand = () => fake.deploy('production', `${TO_OLD} ${OTHER}@0%`);

  test.each<[title: string, given: () => unknown, error: string]>([
    ['and times out at 0 %, which takes effect later', takesEffectLate(AT_0), 'timed out'],
    ['and times out at 10 %, which takes effect later', takesEffectLate(AT_10), 'timed out'],
    ['and times out at 100 %, which takes effect later', takesEffectLate(AT_100), 'timed out'],
    ['and fails once', () => [failAtPause(), fake.at(before(BACK), fail)], 'it failed'],
    ['and fails once, after its effect', () => [failAtPause(), fake.at(after(BACK), fail)], ''],
    [
      'after settings that failed',
      () => [fake.at(after(AT_100), fail), fake.at(READS_NEW, fail)],
      'it failed',
    ],
    ['without effect at 0 %', () => fake.at(after(AT_0), dropDeployment), `it serves ${TO_OLD}`],
    [
      'without effect at 10 %',
      () => fake.at(after(AT_10), dropDeployment),
      `it serves ${NEW}@0% ${OLD}`,
    ],
    [
      'without effect at 100 %',
      () => fake.at(after(AT_100), dropDeployment),
      `it serves ${SHARED}`,
    ],
    ['because it is undone', () => fake.at(PAUSE, undo), `it serves ${TO_OLD}, not ${NEW}@10%`],
    [
      'because it is undone at its last test',
      () => fake.at(after(TRIGGERS), () => fake.at(READS_NEW, undo)),
      `it serves ${TO_OLD}, not ${NEW}`,
    ],
  ])('%s ends with the old version', async (_, given, error) => {
    given();
    const { code, stdout, stderr } = await fake.release(PROMOTE);
    expect(stdout).toContain('Going back …\n');
    const end = `; production serves ${TO_OLD}`;
    expect(stderr).toMatch(new RegExp(`^error: .*${error}.*${end}$`, 'm'));
    expect([code, stderr.includes('npx wrangler')]).toEqual([1, false]);
    expect(fake.served('production')).toBe(TO_OLD);
    // A call that failed may take effect late.
    expect(fake.points.slice(-2)).toEqual([SETTLE, LIST]);
  });

  test('gives way to another operator', async () => {
    failAtPause();
    fake.at(before(BACK), overtake);
    expect(await failing(PROMOTE)).toContain(`; production serves ${TO_OTHER}`);
    expect(fake.changes().slice(-2)).toEqual([BACK, `rollback ${OTHER}`]);
    expect(fake.served('production')).toBe(TO_OTHER);
  });

  const blindly = () => fake.at(LIST, fail, 99);
  test.each<[title: string, given: () => unknown, good: string, served: string]>([
    ['fails twice', () => [failAtPause(), fake.at(before(BACK), fail, 2)], OLD, SHARED],
    ['cannot read deployments', () => fake.at(PAUSE, () => [blindly(), fail()]), OLD, SHARED],
    [
      'cannot put back the deployment of another operator',
      () => [fake.at(before(AT_10), overtake), fake.at(before(`rollback ${OTHER}`), fail, 2)],
      OTHER,
      SHARED,
    ],
    [
      'cannot read deployments after the one of another operator',
      () => fake.at(PAUSE, () => [overtake(), fake.at(SETTLE, blindly)]),
      OTHER,
      TO_OTHER,
    ],
    [
      'finds another promotion',
      () => fake.at(before(AT_0), promoteByHand),
      OLD,
      `${NEW}@0% ${TO_OLD}`,
    ],
  ])('but %s ends with the command to run', async (_, given, good, served) => {
    given();
    const command = `Run: npx wrangler rollback ${good} --env production`;
    const { code, stderr } = await fake.release(PROMOTE);
    expect([code, stderr.trimEnd().split('\n')]).toEqual([1, Array(3).fill(expect.anything())]);
    expect(stderr).toContain(`could not confirm that it went back. ${command}\n`);
    expect(fake.points).toContain(SETTLE);
    expect(fake.served('production')).toBe(served);
  });

  test('and failed with its log settings and triggers names both commands', async () => {
    fake.at(after(AT_100), fail);
    fake.at(before(TRIGGERS), fail);
    const problems = [AT_100, TRIGGERS].map(
      (command) => `it failed. Run: npx wrangler ${command} --env production`,
    );
    expect(await failing(PROMOTE)).toBe(`error: ${problems.join('; ')}`);
  });
});

/** 10 % of the requests reach another version. */
const shareByHand = () => fake.deploy('production', SHARED);

describe('a rollback', () => {
  test('serves the version, tests it, and reads later what is served', async () => {
    shareByHand();
    const { code, stdout, stderr } = await fake.release(ROLLBACK);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/production serves old@100% and is tested.\n$/);
    const view = (version: string) => `production versions view ${version}`;
    expect(fake.points).toEqual([
      ...[view(OLD), LIST, view(OLD), view(NEW), 'confirm', LIST, view(OLD), view(NEW)],
      ...[before(BACK), after(BACK), READS_OLD, SETTLE, LIST],
    ]);
  });

  /** Without a success, the last line says what is served. */
  function checkEnd({ code, stderr }: Result, place: string): void {
    const served = fake.served('production');
    if (code === 0) expect([served, stderr], place).toEqual([TO_OLD, '']);
    else if (fake.changes().length > 0 || fake.points.includes(SETTLE))
      expect(stderr, place).toMatch(
        new RegExp(`error: production serves ${served}, not ${TO_OLD} with a passed test\\n$`),
      );
    else expect(served, place).toBe(SHARED);
  }

  test('that fails at any point says what is served, or reads again', async () => {
    await disturb(ROLLBACK, shareByHand, fail, (result, place) => {
      // A pause does not fail.
      if (place.endsWith(SETTLE)) return;
      checkEnd(result, place);
      expect(result.code === 0, place).toBe(/ (list|view) ?/.test(place));
    });
  });

  test('that is interrupted at any point changes nothing before its change', async () => {
    await disturb(ROLLBACK, shareByHand, interrupt, (result, place) => {
      checkEnd(result, place);
      const isAfterTest = /pause/.test(place) || place === `12 ${LIST}`;
      expect(result.code === 0, place).toBe(isAfterTest);
      // The ninth point is the change.
      if (/^[0-7] /.test(place)) expect(fake.changes(), place).toEqual([]);
      expect(result.stderr).toMatch(result.code === 0 ? '' : /^error: (reads .*: )?interrupted/);
    });
  });

  test('that is overtaken at any point says what is served', async () => {
    await disturb(ROLLBACK, shareByHand, overtake, checkEnd);
  });

  test('that fails and cannot be read says both', async () => {
    fake.at(before(BACK), fail);
    fake.at(SETTLE, () => fake.at(LIST, fail, 2));
    const { code, stderr } = await fake.release(ROLLBACK);
    const lines = 'error: it failed\nerror: it is unknown what is served: it failed\n';
    expect([code, stderr]).toEqual([1, lines]);
  });

  test('without effect is a failure', async () => {
    shareByHand();
    fake.at(after(BACK), dropDeployment);
    expect(await failing(ROLLBACK)).toContain(`production serves ${SHARED}, not ${TO_OLD} with`);
  });

  test('is refused when writes are stopped while it asks', async () => {
    fake.at('confirm', () => {
      fake.environments.production.versionsWithStoppedWrites.push(NEW);
      fake.deploy('production', `${NEW}@100%`);
    });
    expect(await failing(ROLLBACK)).toContain(`${OLD} would resume writes: "Stop writes" in`);
    expect(fake.changes()).toEqual([]);
  });

  test('without a key says that it is not tested', async () => {
    const { code, stdout } = await fake.release(ROLLBACK, { apiKey: '' });
    expect([code, stdout]).toEqual([0, expect.stringContaining('not tested')]);
    expect(fake.points).not.toContain(READS_OLD);
  });

  test.each([undefined, ''])('goes on after a deployment with the message %j', async (message) => {
    Object.assign(fake.environments.production.deployments[0] ?? {}, { message });
    expect(await fake.release(ROLLBACK)).toMatchObject({ code: 0 });
  });

  test('on staging does not ask', async () => {
    const command = ['rollback', OLD, '--env', 'staging'];
    expect(await fake.release(command)).toMatchObject({ code: 0 });
  });

  test.each<
    [title: string, given: (world: Fake['environments']['production']) => unknown, error: string]
  >([
    ['uses another database', ({ bindings }) => Object.assign(bindings, { DB: 'x' }), 'Move a st'],
    [
      'resumes writes',
      ({ versionsWithStoppedWrites }) => versionsWithStoppedWrites.push(NEW, OTHER),
      'old would resume writes',
    ],
    [
      'stops writes',
      ({ versionsWithStoppedWrites }) => versionsWithStoppedWrites.push(OLD),
      'old would stop writes',
    ],
  ])('to a version that %s is refused, unless forced', async (_, given, error) => {
    shareByHand();
    given(fake.environments.production);
    const refusal = await failing(ROLLBACK);
    expect(refusal).toContain(error);
    expect(refusal).toContain('To roll back without this check: --force');
    expect(fake.changes()).toEqual([]);
    expect(await fake.release([...ROLLBACK, '--force'])).toMatchObject({ code: 0 });
    expect(fake.changes()).toEqual([BACK]);
  });

  test('needs neither the right route nor a store of its own', async () => {
    const { production, staging } = fake.environments;
    production.config.routes.push({ pattern: 'another.test', custom_domain: true });
    Object.assign(staging.config, { vars: production.config.vars });
    expect(await fake.release(ROLLBACK)).toMatchObject({ code: 0 });
  });
});

describe('undo', () => {
  const shareByRelease = () => fake.deploy('production', SHARED, 'mine', 'me');

  test.each([`${NEW}@0% ${TO_OLD}`, SHARED, TO_NEW])(
    'goes back from a run that was killed at %s',
    async (shares) => {
      fake.deploy('production', shares, 'mine');
      const { code, stdout } = await fake.release(UNDO);
      expect([code, stdout]).toEqual([0, expect.stringContaining(`serves ${TO_OLD}`)]);
      expect(fake.served('production')).toBe(TO_OLD);
      const change = [before(BACK), after(BACK)];
      expect(fake.points).toEqual([LIST, 'confirm', 'pause 0', LIST, ...change, SETTLE, LIST]);
    },
  );

  test('that fails at any point tries again', async () => {
    await disturb(UNDO, shareByRelease, fail, ({ code }, place) => {
      expect(code === 0, place).toBe(!/confirm|pause 0/.test(place));
      expect(fake.served('production'), place).toBe(code === 0 ? TO_OLD : SHARED);
    });
  });

  test('that is interrupted before its question is answered changes nothing', async () => {
    await disturb(UNDO, shareByRelease, interrupt, ({ code, stderr }, place) => {
      const isEarly = /^0|confirm/.test(place);
      expect([code, stderr], place).toEqual(isEarly ? [1, 'error: interrupted\n'] : [0, '']);
      expect(fake.changes().length > 0, place).toBe(!isEarly);
    });
  });

  test('that is overtaken at any point gives way', async () => {
    await disturb(UNDO, shareByRelease, overtake, ({ stdout, stderr }, place) => {
      const served = fake.served('production');
      expect(served, place).toBe(TO_OTHER);
      expect(stdout + stderr, place).toContain(TO_OTHER);
    });
  });

  test('of a run with all ten deployments names the commands that choose a version', async () => {
    for (let i = 0; i < 10; i += 1) shareByRelease();
    const error = await failing(UNDO);
    expect(error).toContain('npx wrangler versions list --env production');
    expect(error).toContain('npm run release -- rollback <version> --env production');
    expect(fake.changes()).toEqual([]);
  });

  test('of an unknown run beside an unfinished release names that, and fails', async () => {
    shareByHand();
    expect(await failing(UNDO)).toContain('a release is unfinished on production: time 1 berta');
    expect(fake.changes()).toEqual([]);
  });

  test('of a run that has deployed nothing says what is served', async () => {
    const reason = 'None of the ten newest deployments is of mine: nothing to undo.';
    const stdout = `${reason} production serves ${TO_OLD}\n`;
    expect(await fake.release(UNDO)).toEqual({ code: 0, stdout, stderr: '' });
    expect(fake.changes()).toEqual([]);
  });

  test('beside another release names the page, and no version', async () => {
    fake.deploy('production', `${OTHER}@10% ${OLD}@90%`);
    shareByRelease();
    const berta = `time 1 berta deployed ${OLD}@90% ${OTHER}@10% (message: by hand)`;
    const page = '"Unfinished releases" in docs/operations.md';
    expect(await failing(UNDO)).toBe(
      `error: a release is unfinished on production: ${berta}. ${page}`,
    );
    expect(fake.changes()).toEqual([]);
  });

  test('that fails twice prints the command to run', async () => {
    shareByRelease();
    fake.at(before(BACK), fail, 2);
    expect(await failing(UNDO)).toContain(`Run: npx wrangler rollback ${OLD} --env production`);
  });
});

test.each([
  ['a rollback', ROLLBACK],
  ['a forced rollback', [...ROLLBACK, '--force']],
  ['undo', UNDO],
])('%s asks in production, and Enter is not yes', async (_, args) => {
  fake.deploy('production', SHARED, 'mine');
  const command = args.filter((arg) => arg !== '--yes');
  expect(await failing(command, { answer: '\n' })).toBe('error: cancelled');
  expect(fake.changes()).toEqual([]);
});

test.each([
  'promote --hold 1.5',
  'promote --hold -1',
  'rollback old',
  'rollback old --env local',
  'rollback x --env production',
  'rollback  --env production --force',
  'rollback 00000000-0000-4000-8000-00000000000 --env production',
  'staging --hold 0',
  'rollback --env production -- --help',
  'rollback --env production -- -h',
  'staging --run ',
  'staging --run a!',
  'undo  --env production',
])('"%s" is refused with the exit code 2', async (line) => {
  const { code, stderr } = await fake.release(line.split(' '));
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: .*\n$/)]);
  expect(fake.points).toEqual([]);
});
