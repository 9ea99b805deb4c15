/** Releases in this process, against a fake: a promotion with every event at every point, every refusal, and the ways back. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Result } from '../../support/project.ts';
import { changesOf, type Fake, fakeRelease, HEAD, NEW, OLD, OTHER } from './fake-release.ts';

let fake: Fake;

beforeEach(() => {
  fake = fakeRelease();
});

const PROMOTE = ['promote', '--yes', '--id', 'mine', '--hold', '20'];
const STAGING = ['staging', '--id', 'mine'];
const UNDO = ['undo', 'production', 'mine'];

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
const READS_NEW = `reads production ${NEW}`;
const BY_OVERRIDE = `${READS_NEW} by override store-production="${NEW}"`;
const PAUSE = 'pause 10000';
const SETTLE = 'pause 15000';
const WATCH = `watch production ${NEW}`;
const HOLDS = [BY_OVERRIDE, PAUSE, 'log', BY_OVERRIDE, PAUSE, 'log', BY_OVERRIDE];

const change = (step: string) => [before(step), after(step)];
/** All that a promotion passes. */
const PROMOTION = [
  ...['HEAD', 'confirm', 'HEAD', 'build'],
  ...['staging deployments list', `staging versions view ${OLD}`],
  ...[LIST, `production versions view ${OLD}`, `reads production ${OLD}`],
  ...[...change(UPLOAD), `production versions view ${NEW}`, 'HEAD'],
  ...['production d1 time-travel info DB', LIST, ...change(MIGRATE)],
  ...[LIST, ...change(AT_0), BY_OVERRIDE, WATCH],
  ...[LIST, ...change(AT_10), ...HOLDS, 'allow loss'],
  ...[LIST, ...change(AT_100), READS_NEW],
  ...[LIST, ...change(TRIGGERS), READS_NEW, LIST],
];
/** Reads, which are repeated. */
const READ = / (list|view|info) ?/;
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

/** Runs a command that must fail. Returns its errors. */
async function failing(args: string[], options?: { answer?: string }): Promise<string> {
  const { code, stderr } = await fake.release(args, options);
  expect(code).toBe(1);
  return stderr;
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
    const lines = stdout.split('\n');
    expect(lines[0]).toContain(`npx wrangler rollback ${OLD} --env production`);
    const restore = 'npx wrangler d1 time-travel restore DB --env production --bookmark a-bookmark';
    expect(stdout).toContain(`To restore the data: ${restore}\n`);
    expect(lines.at(-2)).toBe(`production serves ${NEW} to all.`);
    expect(fake.points).toEqual(PROMOTION);
    expect(production()).toMatchObject({
      annotations: { 'workers/tag': HEAD, 'workers/message': expect.stringMatching(/^\w{64}$/) },
      // Of the release: by this, it tells its deployments from those of others.
      deployments: [{}, ...Array(3).fill({ message: 'mine' })],
    });
    expect([...fake.gitCalls]).toEqual([
      'rev-parse HEAD',
      'status --porcelain --untracked-files=all',
      'ls-files --others --ignored --exclude-standard src public migrations',
    ]);
  });

  /** `isNoticed`: whether an event at the point i ends the release. */
  test.each<{
    what: string;
    event: () => unknown;
    isNoticed: (i: number) => boolean;
    error: RegExp;
    served: string;
  }>([
    {
      what: 'fails once',
      event: fail,
      isNoticed: (i) => !READ.test(PROMOTION[i] ?? ''),
      error: /^error: .*it failed/,
      served: TO_OLD,
    },
    {
      what: 'is interrupted',
      event: interrupt,
      isNoticed: () => true,
      error: /^error: interrupted/,
      served: TO_OLD,
    },
    {
      what: 'is overtaken by another operator',
      event: overtake,
      // Before this, it begins after the other operator.
      isNoticed: (i) => i > PROMOTION.indexOf(LIST),
      error:
        /^error: another operator intervened: time \d berta deployed c{36}@100% .message: by hand./,
      served: TO_OTHER,
    },
    {
      what: 'finds another commit checked out',
      event: checkOut,
      isNoticed: (i) => i <= PROMOTION.lastIndexOf('HEAD'),
      error: /^error: (staging does not serve HEAD|another commit was checked out)/,
      served: TO_OLD,
    },
  ])('that $what at any point goes back, or on', async ({ event, isNoticed, error, served }) => {
    const check: Check = (result, i, place) => {
      const begun = PROMOTION.slice(0, i + 1);
      expect(result.code === 0, place).toBe(!isNoticed(i));
      if (!isNoticed(i)) {
        expect(result.stderr, place).toBe('');
        return expect(fake.served('production'), place).toBe(TO_NEW);
      }
      expect(result.stderr, place).toMatch(error);
      expect(fake.served('production'), place).toBe(served);
      const hasDeployed = fake.changes().some((step) => step.startsWith('versions deploy'));
      if (hasDeployed || i >= FIRST_DEPLOYMENT)
        expect(result.stderr, place).toContain(`\nerror: production serves ${served}\n`);
      else if (fake.changes().length > 0)
        expect(result.stderr, place).toContain('; no version was deployed\n');
      // An interrupt or a failure lets no further change begin.
      if (event === overtake || event === checkOut) return;
      const isLast = PROMOTION[i]?.startsWith('before ') && event === interrupt;
      const done = changesOf(isLast ? [...begun, PROMOTION[i + 1] ?? ''] : begun);
      const back = hasDeployed ? [BACK] : [];
      expect(fake.changes(), place).toEqual([...done, ...back]);
    };
    await disturb(PROMOTE, () => {}, event, check);
  });

  test.each<[line: string, pauses: string[]]>([
    ['promote --yes', Array(30).fill(PAUSE)],
    ['promote --yes --hold 15', [PAUSE, 'pause 5000']],
  ])('%s holds 10 %% so long, and watches the log meanwhile', async (line, pauses) => {
    await fake.release(line.split(' '));
    expect(fake.points.filter((point) => point.startsWith('pause'))).toEqual(pauses);
    expect(fake.points).toContain(WATCH);
    expect(fake.served('production')).toBe(TO_NEW);
  });

  test('--hold 0 neither holds 10 % nor watches', async () => {
    await fake.release(['promote', '--yes', '--hold', '0']);
    expect(fake.changes()).toEqual([UPLOAD, MIGRATE, AT_0, AT_100, TRIGGERS]);
    expect(fake.points).not.toContain(WATCH);
  });

  test.each([
    ['y\n', TO_NEW],
    [' YES \n', TO_NEW],
    ['\n', TO_OLD],
    ['not yes\n', TO_OLD],
    ['yesterday\n', TO_OLD],
  ])('at the answer %j ends with %s', async (answer, shares) => {
    const { stderr } = await fake.release(['promote', '--hold', '0'], { answer });
    expect(stderr).toContain(`This will release commit ${HEAD} in PRODUCTION. Continue? [y/N]\n`);
    expect(stderr.includes('error: cancelled')).toBe(shares === TO_OLD);
    expect(fake.served('production')).toBe(shares);
  });
});

describe('a release to staging', () => {
  test('is tested with a write, without a share', async () => {
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
});

describe('before any change', () => {
  const setGit = (name: keyof Fake['git'], output: string) => () => {
    fake.git[name] = output;
  };
  const print = (command: string, output: string) => () => {
    production().outputs[command] = output;
  };
  const bind = (name: string) => () => {
    Object.assign(production().bindings, { [name]: { text: 'https://another.test' } });
  };
  const share = () => {
    staging().config.d1_databases = production().config.d1_databases;
  };
  const shareKeys = () => {
    staging().config.kv_namespaces = production().config.kv_namespaces;
  };
  const addRoute = () =>
    production().config.routes.push({ pattern: 'another.test', custom_domain: true });
  const oldTag = () => {
    staging().annotations['workers/tag'] = 'an older commit';
  };
  const isIn = (binding: string) => new RegExp(`${binding} = .* is not in b{36}: "Move a store"`);

  test.each<[title: string, args: string[], given: () => unknown, error: RegExp]>([
    ['a promotion without a terminal and --yes', ['promote'], () => {}, /add --yes/],
    ['one outside of a git repository', PROMOTE, setGit('status', 'fails'), /git is required/],
    ['one with changed files', PROMOTE, setGit('status', ' M src/app.ts'), /remove first: M src/],
    ['one with an ignored file', PROMOTE, setGit('ls-files', 'src/a.ts'), /remove first: src/],
    ['one of another commit', PROMOTE, oldTag, /staging does not serve HEAD/],
    ['one of other bytes', PROMOTE, () => (fake.script = 'other'), /differs from staging's/],
    [
      'one during a release to staging',
      PROMOTE,
      () => fake.deploy('staging', SHARED),
      /is unfinished on staging: time 1 /,
    ],
    [
      'one during another',
      PROMOTE,
      () => fake.deploy('production', SHARED),
      /is unfinished on production: time 1 berta.*"Unfinished releases" in docs/,
    ],
    [
      'one with the id of another',
      PROMOTE,
      () => [fake.deploy('production', TO_OLD, 'mine'), fake.deploy('production', TO_OLD)],
      /an earlier release has the id mine: choose/,
    ],
    ['one to another database', PROMOTE, bind('DB'), isIn('DB')],
    ['one to another KV namespace', PROMOTE, bind('API_KEYS'), isIn('API_KEYS')],
    ['one to another address', PROMOTE, bind('BASE_URL'), isIn('BASE_URL')],
    ['one with the database of staging', PROMOTE, share, /DB = .* is of both/],
    ['a release to staging with the keys of production', STAGING, shareKeys, /API_KEYS = .* of b/],
    ['one with another route', PROMOTE, addRoute, /only route must be/],
    ['one with nothing deployed', PROMOTE, dropDeployment, /nothing is deployed on production/],
    [
      'one after a change in the dashboard',
      PROMOTE,
      () => (production().isChanged = true),
      /changed in the dashboard/,
    ],
    ['one whose reads fail twice', PROMOTE, () => fake.at(LIST, fail, 2), /it failed/],
    ['one with a strange list', PROMOTE, print('deployments', '{}'), /list is not as expected: {}/],
    ['one with strange deployments', PROMOTE, print('deployments', '[{}]'), /not as expected/],
    ['one with a strange version', PROMOTE, print('versions', 'null'), /view b{36} is not as exp/],
    [
      'undo of a release with all ten deployments',
      UNDO,
      () => Array.from({ length: 10 }, () => fake.deploy('production', SHARED, 'mine')),
      /unfinished on production: its ten newest deployments\. [\s\S]* rollback <version> --env production/,
    ],
    [
      'undo of a release beside another',
      UNDO,
      () => [
        fake.deploy('production', `${OTHER}@10% ${OLD}@90%`),
        fake.deploy('production', SHARED, 'mine'),
      ],
      /: time 1 berta deployed b+@90% c+@10% .*"Unfinished rel[\s\S]* rollback <version> --env prod/,
    ],
  ])('%s is refused', async (_, args, given, error) => {
    given();
    expect(await failing(args)).toMatch(error);
    expect(fake.changes()).toEqual([]);
  });

  test.each<[title: string, given: () => unknown, error: RegExp]>([
    [
      'would resume writes',
      () => production().versionsWithStoppedWrites.push(OLD),
      /a{36} would resume writes: "Stop writes" in/,
    ],
    [
      'would stop writes',
      () => production().versionsWithStoppedWrites.push(NEW),
      /a{36} would stop writes: "Stop writes" in/,
    ],
    ['has no bookmark', print('d1', '{}'), /time-travel info DB is not as expected: {}/],
    [
      'has a migration without success, although wrangler has',
      () => Object.assign(production(), { migrations: '│ 0004_a.sql │ ❌ │\n│ 0005.sql │ ✅ │' }),
      /a migration failed: .* 0004_a.sql │ ❌ /,
    ],
  ])('a promotion that %s deploys nothing', async (_, given, error) => {
    given();
    const errors = await failing(PROMOTE);
    expect(errors).toMatch(error);
    expect(errors).toMatch(/; no version was deployed\n$/);
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
  /** Another process runs `undo production mine`. */
  const undo = () => fake.deploy('production', TO_OLD, 'mine', 'me');
  const failAtPause = () => fake.at(PAUSE, fail);
  const giveWay = () => [failAtPause(), fake.at(before(BACK), overtake)];

  test.each<[title: string, given: () => unknown, error: string, served: string]>([
    ['that times out at 0 %, which takes effect later', takesEffectLate, 'timed out', TO_OLD],
    ['that fails', () => [failAtPause(), fake.at(before(BACK), fail)], 'it failed', TO_OLD],
    ['that fails after its effect', () => [failAtPause(), fake.at(after(BACK), fail)], '', TO_OLD],
    ['without an effect', () => fake.at(after(AT_10), dropDeployment), `serves ${NEW}@0% `, TO_OLD],
    ['that is undone', () => fake.at(PAUSE, undo), `serves ${TO_OLD}, not ${NEW}@10%`, TO_OLD],
    ['that is overtaken', giveWay, '', TO_OTHER],
  ])('%s ends with what others serve', async (_, given, error, served) => {
    given();
    const { code, stdout, stderr } = await fake.release(PROMOTE);
    expect(stdout).toContain('Going back …\n');
    expect(stderr).toContain(error);
    expect(stderr.endsWith(`\nerror: production serves ${served}\n`)).toBe(true);
    expect([code, stderr.includes('npx wrangler')]).toEqual([1, false]);
    expect(fake.served('production')).toBe(served);
    // A call that failed may take effect late.
    expect(fake.points.slice(-2)).toEqual([SETTLE, LIST]);
  });

  const failToRead = () => [fake.at(LIST, fail, 99), fail()];
  /** Between a release's look and its change. */
  const promoteByHand = () => fake.deploy('production', `${TO_OLD} ${OTHER}@0%`);

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
      '<version>',
      `${NEW}@0% ${TO_OLD}`,
    ],
  ])('but %s ends with the command to run', async (_, given, good, served) => {
    given();
    const errors = await failing(PROMOTE);
    const command = `Run: npx wrangler rollback ${good} --env production\n`;
    expect(errors.endsWith(`could not confirm that it went back. ${command}`)).toBe(true);
    expect(fake.points).toContain(SETTLE);
    expect(fake.served('production')).toBe(served);
  });
});

describe('undo', () => {
  const UNDO_POINTS = [LIST, 'pause 0', LIST, before(BACK), after(BACK), SETTLE, LIST];

  test.each([`${NEW}@0% ${TO_OLD}`, SHARED, TO_NEW])(
    'goes back from a release that was killed at %s',
    async (shares) => {
      fake.deploy('production', shares, 'mine');
      const { code, stdout } = await fake.release(UNDO);
      expect([code, stdout]).toEqual([0, `Going back …\nproduction serves ${TO_OLD}\n`]);
      expect(fake.served('production')).toBe(TO_OLD);
      expect(fake.points).toEqual(UNDO_POINTS);
    },
  );

  test.each([
    ['that has deployed nothing', () => {}, TO_OLD],
    ['after which somebody deployed', () => [shareByRelease(), overtake()], TO_OTHER],
  ])('of a release %s says what is served', async (_, given, served) => {
    given();
    const reason = 'the newest deployment is not of mine: nothing to undo';
    const stdout = `production serves ${served}; ${reason}\n`;
    expect(await fake.release(UNDO)).toEqual({ code: 0, stdout, stderr: '' });
    expect(fake.changes()).toEqual([]);
  });

  const shareByRelease = () => fake.deploy('production', SHARED, 'mine', 'me');

  test.each([
    ['fails once', fail, TO_OLD],
    ['is overtaken', overtake, TO_OTHER],
  ])('that %s at any point ends with what others serve', async (_, event, served) => {
    const check: Check = ({ code, stdout }, i, place) => {
      // The real pause does not fail.
      if (event === fail && UNDO_POINTS[i]?.startsWith('pause')) return;
      expect([code, fake.served('production')], place).toEqual([0, served]);
      expect(stdout, place).toContain(`production serves ${served}`);
    };
    await disturb(UNDO, shareByRelease, event, check);
  });

  test('that fails twice prints the command to run', async () => {
    shareByRelease();
    fake.at(before(BACK), fail, 2);
    expect(await failing(UNDO)).toContain(`Run: npx wrangler rollback ${OLD} --env production`);
  });
});

test.each([
  'promote --hold 1.5',
  'promote --hold -1',
  'staging --hold 0',
  'staging --id ',
  'staging --id a!',
  'undo local mine',
  'undo production ',
  'undo production',
])('"%s" is refused with the exit code 2', async (line) => {
  const { code, stderr } = await fake.release(line.split(' '));
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: .*\n$/)]);
  expect(fake.points).toEqual([]);
});
