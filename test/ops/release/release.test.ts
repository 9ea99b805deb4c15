/** Releases in this process, against a fake: a promotion with every event at every point, every refusal, and the ways back. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Result } from '../../support/project.ts';
import { changesOf, type Fake, fakeRelease, HEAD, NEW, OLD, OTHER } from './fake-release.ts';

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
/** Reads, which are repeated. */
const READ = / (list|view|info) ?/;
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
const production = () => fake.environments.production;
const staging = () => fake.environments.staging;
/** The newest deployment of production is not seen. */
const dropDeployment = () => production().deployments.pop();

const lastLine = ({ stderr }: Result) => stderr.trimEnd().split('\n').at(-1) ?? '';

/** Runs a command that must fail. Returns the last line of standard error. */
async function failing(args: string[], options?: { answer?: string }): Promise<string> {
  const result = await fake.release(args, options);
  expect(result.code).toBe(1);
  return lastLine(result);
}

type Check = (result: Result, i: number, place: string) => void;

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
    check(result, i, `${i} ${point}`);
  }
}

describe('a promotion', () => {
  test('is tested by override for its time at 10 %, and then serves all', async () => {
    const { code, stdout, stderr } = await fake.release(PROMOTE);
    expect([code, stderr]).toEqual([0, '']);
    const restore = 'npx wrangler d1 time-travel restore DB --env production --bookmark a-bookmark';
    expect(stdout).toContain(`To restore the data: ${restore}\n`);
    expect(stdout).toContain('Holding 10 %.');
    expect(stdout.endsWith(`production serves ${NEW} to all.\n`)).toBe(true);
    expect(fake.points).toEqual(PROMOTION);
    expect(production()).toMatchObject({
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
  });

  const LAST_READ_BEFORE = PROMOTION.indexOf(LIST);
  const CONFIRM = PROMOTION.indexOf('confirm');
  /** The changes of settings that may fail: the release goes on, and names at its end the command that sets them. */
  const SETTINGS = [after(AT_100), before(TRIGGERS), after(TRIGGERS)];
  const goesOn = (point = '') =>
    READ.test(point) || [after(AT_0), after(AT_10), ...SETTINGS].includes(point);

  /** `noticedAt`: the point that ends the release after an event at the point i, or -1. */
  test.each<{
    what: string;
    event: () => unknown;
    noticedAt: (i: number) => number;
    error: string;
    served: string;
  }>([
    {
      what: 'fails once',
      event: fail,
      noticedAt: (i) => (goesOn(PROMOTION[i]) ? -1 : i),
      error: 'it failed.*',
      served: OLD,
    },
    {
      what: 'is interrupted',
      event: interrupt,
      // It looks before each change, and then reads HEAD.
      noticedAt: (i) => (i <= CONFIRM ? i : PROMOTION.indexOf('HEAD', i + 1)),
      error: 'interrupted',
      served: OLD,
    },
    {
      what: 'is overtaken by another operator',
      event: overtake,
      // Before this, it begins after the other operator.
      noticedAt: (i) => (i <= LAST_READ_BEFORE ? -1 : PROMOTION.indexOf(LIST, i)),
      error: `another operator intervened: time \\d berta deployed ${TO_OTHER} .message: by hand.`,
      served: OTHER,
    },
    {
      what: 'finds another commit checked out',
      event: checkOut,
      noticedAt: (i) => PROMOTION.indexOf('HEAD', i),
      error: 'staging does not serve HEAD.*|another commit was checked out',
      served: OLD,
    },
  ])('that $what at any point goes back, or on', async ({ event, noticedAt, error, served }) => {
    await disturb(
      PROMOTE,
      () => {},
      event,
      (result, i, place) => {
        const end = noticedAt(i);
        expect(result.code === 0, place).toBe(result.stderr === '');
        if (end < 0) {
          expect(fake.served('production'), place).toBe(TO_NEW);
          const isUnset = event === fail && SETTINGS.includes(PROMOTION[i] ?? '');
          return expect(result.stderr !== '', place).toBe(isUnset);
        }
        const state =
          end < FIRST_DEPLOYMENT ? 'no version was deployed' : `production serves ${served}@100%`;
        const ending = end < FIRST_CHANGE ? '' : `; ${state}`;
        expect(lastLine(result), place).toMatch(new RegExp(`^error: (${error})${ending}$`));
        // It goes back only from a deployment of its own that is the newest.
        const own = changesOf(PROMOTION.slice(event === overtake ? i + 1 : 0, end + 1));
        const back = own.some((step) => step.startsWith('versions deploy'))
          ? [`rollback ${served}`]
          : [];
        const begun = changesOf(PROMOTION.slice(0, end + 1));
        expect(fake.changes(), place).toEqual([...begun, ...back]);
        expect(fake.served('production'), place).toBe(`${served}@100%`);
      },
    );
  });
});

describe('a promotion with options', () => {
  test.each<[line: string, pauses: string[], isWatched: boolean]>([
    ['promote --yes', Array(30).fill(PAUSE), true],
    ['promote --yes --hold 15', [PAUSE, 'pause 5000'], true],
    ['promote --yes --hold 0', [], false],
    ['promote --yes --hold 20 --unwatched', [PAUSE, PAUSE], false],
  ])('%s holds 10 %% so long, and watches the log meanwhile', async (line, pauses, isWatched) => {
    await fake.release(line.split(' '));
    expect(fake.points.filter((point) => point.startsWith('pause'))).toEqual(pauses);
    expect(fake.points.includes(WATCH)).toBe(isWatched);
    expect(fake.served('production')).toBe(TO_NEW);
  });

  test.each([
    ['y\n', TO_NEW],
    [' YES \n', TO_NEW],
    ['not yes\n', TO_OLD],
    ['yesterday\n', TO_OLD],
  ])('at the answer %j ends with %s', async (answer, shares) => {
    await fake.release(['promote', '--hold', '0'], { answer });
    expect(fake.served('production')).toBe(shares);
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

  test('has another id each time by default', async () => {
    for (const _ of [1, 2]) await fake.release(['staging']);
    const messages = staging().deployments.map(({ message }) => message);
    // The first deployment is of neither.
    expect(new Set(messages).size).toBe(3);
  });

  test.each([
    ['says that it goes back in history', 'exit 1', HEAD, true],
    ['does not know an older history', 'exit 128', HEAD, false],
    ['does not know the served commit', 'exit 1', undefined, false],
  ])('%s', async (_, history, commit, isBack) => {
    fake.git['merge-base'] = history;
    Object.assign(staging().annotations, { 'workers/tag': commit });
    const { stdout } = await fake.release(STAGING);
    expect(stdout).toContain(`The served commit is ${commit ?? 'unknown'} and the release is`);
    expect(stdout.includes('It goes BACK in history')).toBe(isBack);
  });

  test('resumes writes with --resume-writes', async () => {
    staging().versionsWithStoppedWrites.push(OLD);
    expect(await fake.release([...STAGING, '--resume-writes'])).toMatchObject({ code: 0 });
  });
});

const addRoute = () =>
  production().config.routes.push({ pattern: 'another.test', custom_domain: true });
const shareDatabase = () => {
  staging().config.d1_databases = production().config.d1_databases;
};
/** 10 % of the requests reach another version. */
const shareByHand = () => fake.deploy('production', SHARED);
const shareByRelease = () => fake.deploy('production', SHARED, 'mine', 'me');

describe('before any change', () => {
  const setGit = (name: keyof Fake['git'], output: string) => () => {
    fake.git[name] = output;
  };
  const bind = (name: string) => () => {
    Object.assign(production().bindings, { [name]: { text: 'https://another.test' } });
  };
  const rollStagingBack = () => {
    staging().annotations['workers/tag'] = 'an older commit';
  };
  const stopWrites = () => {
    production().versionsWithStoppedWrites.push(NEW);
    fake.deploy('production', TO_NEW);
  };
  const shareTwice = () => [fake.deploy('production', `${OTHER}@10% ${OLD}@90%`), shareByRelease()];
  const fillList = () => {
    for (let i = 0; i < 10; i += 1) shareByRelease();
  };

  test.each<[title: string, args: string[], given: () => unknown, error: RegExp]>([
    ['a promotion without a terminal and --yes', ['promote'], () => {}, /add --yes/],
    [
      'one outside of a git repository',
      PROMOTE,
      setGit('status', 'exit 128'),
      /git is required\. In a copy/,
    ],
    ['one with changed files', PROMOTE, setGit('status', ' M src/app.ts'), /remove first: M src/],
    ['one with an ignored file', PROMOTE, setGit('ls-files', 'src/a.ts'), /remove first: src/],
    [
      'one of other bytes',
      PROMOTE,
      () => (fake.script = 'other'),
      /the build differs from staging's/,
    ],
    [
      'one during a release to staging',
      PROMOTE,
      () => fake.deploy('staging', SHARED),
      /is unfinished on staging: time 1 /,
    ],
    ['one during another', PROMOTE, shareByHand, /is unfinished on production: time 1 berta/],
    [
      'one with the id of another',
      PROMOTE,
      () => fake.deploy('production', TO_OLD, 'mine'),
      /an earlier release has the id mine: ch/,
    ],
    ['one to another database', PROMOTE, bind('DB'), /DB = .* is not in b{36}: "Move a store"/],
    ['one to another KV namespace', PROMOTE, bind('API_KEYS'), /API_KEYS = .* is not in/],
    ['one to another address', PROMOTE, bind('BASE_URL'), /BASE_URL = .* is not in/],
    ['one with the database of staging', PROMOTE, shareDatabase, /DB = .* is of both/],
    [
      'one that is answered with another version',
      PROMOTE,
      () => (production().answeredVersion = OTHER),
      /answers with the version c{36} instead of b{36}/,
    ],
    ['one with another route', PROMOTE, addRoute, /only route must be/],
    [
      'one whose staging is rolled back meanwhile',
      PROMOTE,
      () => fake.at(READS_OLD, rollStagingBack),
      /not serve HEAD/,
    ],
    [
      'one after a change in the dashboard',
      PROMOTE,
      () => (production().isChanged = true),
      /changed in the dashboard/,
    ],
    ['one whose reads fail twice', PROMOTE, () => fake.at(LIST, fail, 2), /it failed/],
    [
      'a rollback when writes are stopped while it asks',
      ROLLBACK,
      () => fake.at('confirm', stopWrites),
      /b{36} would resume writes: "Stop writes" in/,
    ],
    [
      'undo of a run with all ten deployments',
      UNDO,
      fillList,
      /npx wrangler versions list --env production.*: npm run release -- rollback <version> --env pro/,
    ],
    [
      'undo of an unknown run beside another',
      UNDO,
      shareByHand,
      /is unfinished on production: time 1 berta/,
    ],
    [
      'undo of a run beside another',
      UNDO,
      shareTwice,
      /: time 1 berta deployed b+@90% c+@10% .message: by hand.. "Unfinished releases" in docs.operations.md$/,
    ],
  ])('%s is refused', async (_, args, given, error) => {
    given();
    expect(await failing(args)).toMatch(error);
    expect(fake.changes()).toEqual([]);
  });

  test.each<[title: string, given: () => unknown, args: string[], error: RegExp]>([
    [
      'would resume writes',
      () => production().versionsWithStoppedWrites.push(OLD),
      PROMOTE,
      /a{36} would resume writes: "Stop writes" in/,
    ],
    [
      'would stop writes',
      () => production().versionsWithStoppedWrites.push(NEW),
      [...PROMOTE, '--resume-writes'],
      /a{36} would stop writes: "Stop writes" in/,
    ],
    [
      'has no bookmark to which the data can be restored',
      () => (production().bookmark = undefined),
      PROMOTE,
      /wrangler names no bookmark/,
    ],
    [
      'has a migration without success, although wrangler has',
      () => Object.assign(production(), { migrations: '│ 0004_a.sql │ ❌ │\n│ 0005.sql │ ✅ │' }),
      PROMOTE,
      /a migration failed: .* 0004_a.sql │ ❌ /,
    ],
  ])('a promotion that %s deploys nothing', async (_, given, args, error) => {
    given();
    const end = await failing(args);
    expect(end).toMatch(error);
    expect(end).toContain('; no version was deployed');
    expect(fake.served('production')).toBe(TO_OLD);
  });
});

describe('a promotion that goes back', () => {
  /** The step takes effect only while the release waits for that, on its way back. */
  const takesEffectLate = () =>
    fake.at(before(AT_0), () => {
      fake.at(SETTLE, () => fake.deploy('production', TO_NEW, 'mine', 'me'));
      throw new Error('timed out');
    });
  /** Another process runs `undo mine`. */
  const undo = () => fake.deploy('production', TO_OLD, 'mine', 'me');
  const failAtPause = () => fake.at(PAUSE, fail);
  const promoteByHand = () => fake.deploy('production', `${TO_OLD} ${OTHER}@0%`);

  const giveWay = () => [failAtPause(), fake.at(before(BACK), overtake)];

  test.each<[title: string, given: () => unknown, error: string, served: string]>([
    ['that times out at 0 %, which takes effect later', takesEffectLate, 'timed out', TO_OLD],
    ['that fails', () => [failAtPause(), fake.at(before(BACK), fail)], 'it failed', TO_OLD],
    ['that fails after its effect', () => [failAtPause(), fake.at(after(BACK), fail)], '', TO_OLD],
    [
      'after settings that failed',
      () => [fake.at(after(AT_100), fail), fake.at(READS_NEW, fail)],
      'it failed',
      TO_OLD,
    ],
    [
      'after a change without effect',
      () => fake.at(after(AT_10), dropDeployment),
      `it serves ${NEW}@0% ${OLD}`,
      TO_OLD,
    ],
    ['that is undone', () => fake.at(PAUSE, undo), `it serves ${TO_OLD}, not ${NEW}@10%`, TO_OLD],
    ['that is overtaken', giveWay, '', TO_OTHER],
  ])('%s ends with what others serve', async (_, given, error, served) => {
    given();
    const { code, stdout, stderr } = await fake.release(PROMOTE);
    expect(stdout).toContain('Going back …\n');
    expect(stderr).toMatch(new RegExp(`^error: .*${error}.*; production serves ${served}$`, 'm'));
    expect([code, stderr.includes('npx wrangler')]).toEqual([1, false]);
    expect(fake.served('production')).toBe(served);
    // A call that failed may take effect late.
    expect(fake.points.slice(-2)).toEqual([SETTLE, LIST]);
  });

  const failToRead = () => [fake.at(LIST, fail, 99), fail()];
  test.each<[title: string, given: () => unknown, good: string, served: string]>([
    ['cannot read deployments', () => fake.at(PAUSE, failToRead), OLD, SHARED],
    [
      'cannot put back the deployment of another operator',
      () => [fake.at(before(AT_10), overtake), fake.at(before(`rollback ${OTHER}`), fail, 2)],
      OTHER,
      SHARED,
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

const view = (version: string) => `production versions view ${version}`;
const ROLLBACK_POINTS = [
  ...[view(OLD), LIST, view(OLD), view(NEW), 'confirm', LIST, view(OLD), view(NEW)],
  ...[before(BACK), after(BACK), READS_OLD, SETTLE, LIST],
];
const UNDO_POINTS = [LIST, 'confirm', 'pause 0', LIST, before(BACK), after(BACK), SETTLE, LIST];

/** `isSuccess`: whether the command succeeds after the event at the point i. */
test.each<{
  what: string;
  args: string[];
  event: () => unknown;
  isSuccess: (i: number) => boolean;
  served: string;
}>([
  {
    what: 'a rollback that fails once',
    args: ROLLBACK,
    event: fail,
    isSuccess: (i) => READ.test(ROLLBACK_POINTS[i] ?? ''),
    served: TO_OLD,
  },
  {
    what: 'a rollback that is interrupted',
    args: ROLLBACK,
    event: interrupt,
    isSuccess: (i) => i > ROLLBACK_POINTS.indexOf(READS_OLD),
    served: TO_OLD,
  },
  {
    what: 'a rollback that is overtaken',
    args: ROLLBACK,
    event: overtake,
    isSuccess: (i) => i <= ROLLBACK_POINTS.indexOf(before(BACK)),
    served: TO_OLD,
  },
  {
    what: 'undo that fails once',
    args: UNDO,
    event: fail,
    isSuccess: (i) => UNDO_POINTS[i] !== 'confirm',
    served: TO_OLD,
  },
  {
    what: 'undo that is interrupted',
    args: UNDO,
    event: interrupt,
    isSuccess: (i) => i > UNDO_POINTS.indexOf('confirm'),
    served: TO_OLD,
  },
  {
    what: 'undo that is overtaken',
    args: UNDO,
    event: overtake,
    isSuccess: () => true,
    served: TO_OTHER,
  },
])('$what at any point says what is served', async ({ args, event, isSuccess, served }) => {
  const points = args === UNDO ? UNDO_POINTS : ROLLBACK_POINTS;
  await disturb(args, shareByRelease, event, ({ code, stdout, stderr }, i, place) => {
    // The real pause does not fail.
    if (event === fail && points[i]?.startsWith('pause')) return;
    expect(code === 0, place).toBe(isSuccess(i));
    if (isSuccess(i)) {
      expect(stdout, place).toContain(`production serves ${served}`);
      return expect(fake.served('production'), place).toBe(served);
    }
    expect(stderr, place).toMatch(event === interrupt ? /^error: interrupted\n/ : /^error: /);
    if (i < points.indexOf(before(BACK))) return expect(fake.changes(), place).toEqual([]);
    const end = `error: production serves ${fake.served('production')}, not ${TO_OLD} with`;
    expect(stderr, place).toContain(end);
  });
});

describe('a rollback', () => {
  test('serves the version, tests it, and reads later what is served', async () => {
    shareByHand();
    // These refuse a release, but no rollback.
    addRoute();
    shareDatabase();
    const { code, stdout, stderr } = await fake.release(ROLLBACK);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.endsWith(`production serves ${TO_OLD} and is tested.\n`)).toBe(true);
    expect(fake.points).toEqual(ROLLBACK_POINTS);
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

  test('without a key says that it is not tested', async () => {
    const { code, stdout } = await fake.release(ROLLBACK, { apiKey: '' });
    expect([code, stdout]).toEqual([0, expect.stringContaining('not tested')]);
    expect(fake.points).not.toContain(READS_OLD);
  });

  test('on staging does not ask', async () => {
    const command = ['rollback', OLD, '--env', 'staging'];
    expect(await fake.release(command)).toMatchObject({ code: 0 });
  });

  test.each<[title: string, given: () => unknown, error: string]>([
    ['uses another database', () => (production().bindings.DB.id = 'x'), 'Move a st'],
    [
      'resumes writes',
      () => production().versionsWithStoppedWrites.push(NEW, OTHER),
      `${OLD} would resume writes`,
    ],
    [
      'stops writes',
      () => production().versionsWithStoppedWrites.push(OLD),
      `${OLD} would stop writes`,
    ],
  ])('to a version that %s is refused, unless forced', async (_, given, error) => {
    shareByHand();
    given();
    const refusal = await failing(ROLLBACK);
    expect(refusal).toContain(error);
    expect(refusal).toContain('To roll back without this check: --force');
    expect(fake.changes()).toEqual([]);
    expect(await fake.release([...ROLLBACK, '--force'])).toMatchObject({ code: 0 });
    expect(fake.changes()).toEqual([BACK]);
  });
});

describe('undo', () => {
  test.each([`${NEW}@0% ${TO_OLD}`, SHARED, TO_NEW])(
    'goes back from a run that was killed at %s',
    async (shares) => {
      fake.deploy('production', shares, 'mine');
      const { code, stdout } = await fake.release(UNDO);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^time 1 berta deployed .*\ntime 0 anna deployed /);
      expect(stdout).toContain(`serves ${TO_OLD}`);
      expect(fake.served('production')).toBe(TO_OLD);
      expect(fake.points).toEqual(UNDO_POINTS);
    },
  );

  test('of a run that has deployed nothing says what is served', async () => {
    const reason = 'None of the ten newest deployments is of mine: nothing to undo.';
    const stdout = `${reason} production serves ${TO_OLD}\n`;
    expect(await fake.release(UNDO)).toEqual({ code: 0, stdout, stderr: '' });
    expect(fake.changes()).toEqual([]);
  });

  test('that fails twice prints the command to run', async () => {
    shareByRelease();
    fake.at(before(BACK), fail, 2);
    expect(await failing(UNDO)).toContain(`Run: npx wrangler rollback ${OLD} --env production`);
  });
});

test.each([
  ['a promotion', PROMOTE],
  ['a rollback', ROLLBACK],
  ['a forced rollback', [...ROLLBACK, '--force']],
  ['undo', UNDO],
])('%s asks in production, and Enter is not yes', async (_, args) => {
  if (args !== PROMOTE) fake.deploy('production', SHARED, 'mine');
  const command = args.filter((arg) => arg !== '--yes');
  expect(await failing(command, { answer: '\n' })).toBe('error: cancelled');
  expect(fake.changes()).toEqual([]);
});

test.each([
  'promote --hold 1.5',
  'promote --hold -1',
  `rollback ${OLD}`,
  `rollback ${OLD} --env local`,
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
