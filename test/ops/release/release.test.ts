/** Releases in this process, against a fake: a promotion with every event at every point, every refusal, and the ways back. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { generateKey } from '../../../ops/keys/generate-key.ts';
import type { Result } from '../../support/project.ts';
import { changesOf, type Fake, fakeRelease } from './fake-release.ts';

let fake: Fake;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  fake = fakeRelease();
});
afterEach(() => {
  vi.useRealTimers();
});

const PROMOTE = ['promote', '--yes', '--id', 'mine', '--hold', '15'];
const STAGING = ['staging', '--id', 'mine'];
const UNDO = ['undo', 'production', 'mine'];

const UPLOAD =
  'versions upload /project/dist/release/index.js --no-bundle --tag head --message SHA256 --strict';
const MIGRATE = 'd1 migrations apply DB --remote';
// A release tells its deployments from those of others by their message.
const AT_0 = 'versions deploy v2@0% v1@100% --yes --message mine';
const AT_10 = 'versions deploy v2@10% v1@90% --yes --message mine';
const AT_100 = 'versions deploy v2@100% --yes --message mine';
const TRIGGERS = 'triggers deploy';
const LOG = 'git log --oneline --left-right --end-of-options head...head';
const BACK = 'rollback v1 --yes --message mine';

const before = (step: string) => `before production ${step}`;
const ANNOUNCED = [MIGRATE, AT_0, AT_10, AT_100].map(before);
const after = (step: string) => `after production ${step}`;
const READ_HEAD = 'git rev-parse HEAD';
const LIST = 'production deployments list --json';
const BY_OVERRIDE = 'reads https://production.test/v1 v2 by override store-production="v2"';
const PAUSE = 'pause 10000';
/** The first point of the way back. */
const WAY_BACK = 'pause 0';
const SETTLE = 'pause 15000';
const WATCH = 'watch production v2';
const HELD = [BY_OVERRIDE, PAUSE, 'log'];
/** Whether the checkout and the build are still those that were checked. */
const TREE = [
  'git status --porcelain --untracked-files=all',
  'git ls-files -oi --exclude-standard src public migrations :!public/client-*.tgz',
];
/** A look at the migrations that are applied. */
const MIGRATIONS = [
  "production d1 execute DB --remote --command SELECT name FROM sqlite_schema WHERE name = 'd1_migrations' --json",
  'production d1 execute DB --remote --command SELECT name FROM d1_migrations --json',
];

/** A change, and the look before it: whether another operator has deployed. */
const change = (step: string) => [LIST, before(step), after(step)];
const PLAN = [
  'Commits that production gets (>) or loses (<):',
  '> 1234567 Change',
  'Migrations to apply: 2.sql',
  'Steps: upload, migrations, test at 0 %, 10 %, 100 %, routes and crons.',
  'Seconds at 10 %, while the log is watched: 15',
];
/** All that a promotion passes. */
const PROMOTION = [
  'reject other configurations',
  READ_HEAD,
  ...TREE,
  'staging deploy --dry-run --outdir /project/dist/release',
  'staging deployments list --json',
  'staging versions view v1 --json',
  LIST,
  'production versions view v1 --json',
  'reads https://production.test/v1 v1',
  ...MIGRATIONS,
  LOG,
  'confirm',
  ...TREE,
  READ_HEAD,
  ...change(UPLOAD),
  'production versions view v2 --json',
  ...TREE,
  READ_HEAD,
  'production d1 time-travel info DB --json',
  ...change(MIGRATE),
  ...MIGRATIONS,
  ...change(AT_0),
  BY_OVERRIDE,
  WATCH,
  ...change(AT_10),
  ...HELD,
  ...HELD,
  ...change(AT_100),
  'reads https://production.test/v1 v2',
  ...TREE,
  READ_HEAD,
  ...change(TRIGGERS),
  'reads https://production.test/v1 v2',
  LIST,
];

const fail = () => {
  throw new Error('it failed');
};
const interrupt = () => fake.interrupt();
/** Another operator serves another version. */
const overtake = () => fake.deploy('production', 'other@100%');
const checkOut = () => {
  fake.git['rev-parse'] = 'another commit';
};
/** The release has deployed, and was killed. */
const share = () => fake.deploy('production', 'v1@90% v2@10%', 'mine');
const production = () => fake.environments.production;
const staging = () => fake.environments.staging;
/** The newest deployment of production is not seen. */
const dropDeployment = () => production().deployments.pop();

type Check = (result: Result, i: number, place: string) => void;

/** Runs a command once for each point that it passes undisturbed, with an event there. */
async function disturb(args: string[], given: () => unknown, event: () => unknown, check: Check) {
  given();
  await fake.release(args);
  for (const [i, point] of [...fake.points].entries()) {
    fake = fakeRelease();
    given();
    fake.at(i, event);
    const result = await fake.release(args);
    const place = `${i} ${point}`;
    expect(fake.isWatching(), place).toBe(false);
    check(result, i, place);
  }
}

describe('a promotion', () => {
  test('is tested by override for its time at 10 %, and then serves all', async () => {
    const { code, stdout, stderr } = await fake.release(PROMOTE);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.split('\n')).toEqual([
      'To serve again what is served now: npx wrangler rollback v1 --env production --config wrangler.toml',
      ...PLAN,
      'Applying migrations. To restore the data: npx wrangler d1 time-travel restore DB --bookmark a-bookmark --env production --config wrangler.toml',
      'Deploying v2 at 0 %',
      'Deploying v2 at 10 %',
      'Deploying v2 at 100 %',
      'production serves v2 to all.',
      '',
    ]);
    expect(fake.points).toEqual(PROMOTION);
    expect(fake.isWatching()).toBe(false);
  });

  test.each([
    [
      'all migrations where wrangler has no table of them',
      () => production().tables.sqlite_schema.pop(),
      'Migrations to apply: 1.sql, 2.sql',
    ],
    [
      'a served commit that is not in the clone',
      () => fake.at(LOG, fail),
      'unknown: the served version is of no commit in this clone',
    ],
    [
      'that both environments share an account',
      () => (staging().config.account_id = production().config.account_id),
      'One account: ',
    ],
  ])('shows %s with --dry-run, asks nothing, and changes nothing', async (_, given, line) => {
    given();
    const { code, stdout } = await fake.release(['promote', '--dry-run']);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`\n${line}`)]);
    expect(fake.points.at(-1)).toBe(LOG);
  });

  test('uploads no script that was built while it asked', async () => {
    fake.at('confirm', () => (fake.script = 'another script'));
    const { stderr } = await fake.release(PROMOTE);
    expect(stderr).toContain('error: another commit was checked out or built\n');
    expect(fake.changes()).toEqual([]);
  });

  test('prints the bookmark before it applies the migrations', async () => {
    fake.at(before(MIGRATE), fail);
    expect((await fake.release(PROMOTE)).stdout).toContain(' --bookmark a-bookmark ');
  });

  /** `first` and `last`: the points from and to which the event ends the release. */
  test.each([
    { what: 'fails', event: fail, error: 'error: it failed' },
    { what: 'is interrupted', event: interrupt, error: 'error: interrupted' },
    {
      what: 'is overtaken by another operator',
      event: overtake,
      // Before this, it begins after the other operator.
      first: PROMOTION.indexOf(LIST) + 1,
      error: 'error: another operator intervened: time ',
      served: 'other@100%',
    },
    {
      what: 'finds another commit checked out',
      event: checkOut,
      first: PROMOTION.indexOf(READ_HEAD) + 1,
      last: PROMOTION.lastIndexOf(READ_HEAD),
      error: 'error: another commit was checked out or built',
    },
  ])('that $what at any point goes back, or on', async (disturbance) => {
    const { event, first = 0, last = PROMOTION.length, error, served = 'v1@100%' } = disturbance;
    const check: Check = ({ code, stdout, stderr }, i, place) => {
      if (i < first || i > last || place.endsWith(LOG)) return;
      expect([code, fake.served()], place).toEqual([1, served]);
      expect(stderr.startsWith(error), place).toBe(true);
      // Says of no change that it is made before it is sent.
      const announced = stdout.match(/^(Applying|Deploying)/gm) ?? [];
      const sent = fake.points.filter((point) => ANNOUNCED.includes(point));
      expect(announced, place).toHaveLength(sent.length);
      // Only what has changed nothing ends without a word on what is served.
      const wentBack = fake.points.includes(WAY_BACK);
      if (!wentBack) return expect(fake.changes(), place).toEqual([]);
      expect(stderr.endsWith(`\nerror: production serves ${served}\n`), place).toBe(true);
      if (event === overtake || event === checkOut) return;
      // After a failure or an interrupt no step begins.
      const isUnderWay = event === interrupt && PROMOTION[i]?.startsWith('before ');
      const done = changesOf(PROMOTION.slice(0, isUnderWay ? i + 2 : i + 1));
      const back = done.includes(AT_0) ? [BACK] : [];
      expect(fake.changes(), place).toEqual([...done, ...back]);
      expect(fake.points.slice(i + 1), place).not.toContain(PAUSE);
    };
    await disturb(PROMOTE, () => {}, event, check);
  });

  test.each([
    ['promote --yes', Array(30).fill(PAUSE)],
    ['promote --yes --hold 0', []],
  ])('%s holds 10 %% so long, and watches the log meanwhile', async (line, pauses) => {
    await fake.release(line.split(' '));
    expect(fake.points.filter((point) => point.startsWith('pause'))).toEqual(pauses);
    expect(fake.points.includes(WATCH)).toBe(pauses.length > 0);
    expect(fake.served()).toBe('v2@100%');
  });

  test('counts the time of slow tests as time at 10 %', async () => {
    fake.at(BY_OVERRIDE, () => vi.setSystemTime(Date.now() + 100_000), 9);
    await fake.release(['promote', '--yes']);
    expect(fake.points.filter((point) => point === PAUSE)).toHaveLength(3);
  });

  test('accepts a smoke key with a line break at its end, as secrets often have', async () => {
    const key = `${generateKey('production')}\n`;
    expect(await fake.release(PROMOTE, '', key)).toMatchObject({ code: 0 });
  });

  test('changes nothing before a yes', async () => {
    const { stderr } = await fake.release(['promote'], '\n');
    expect(stderr).toContain('This will release commit head in PRODUCTION. Continue? [y/N]\n');
    expect(fake.changes()).toEqual([]);
  });
});

test.each([
  [PROMOTE, '', 'production'],
  [PROMOTE, 'animal_production_x', 'production'],
  [PROMOTE, generateKey('staging'), 'production'],
  [STAGING, generateKey('production'), 'staging'],
])('%j does nothing with the smoke key %j', async (args, key, environment) => {
  const { code, stderr } = await fake.release(args, '', key);
  expect([code, fake.points]).toEqual([1, ['reject other configurations']]);
  expect(stderr).toContain(`error: SMOKE_API_KEY must be an API key of ${environment}: `);
});

test('a release to staging is tested with a write, without a share', async () => {
  expect(await fake.release(STAGING)).toMatchObject({ code: 0, stderr: '' });
  expect(fake.changes()).toEqual([UPLOAD, MIGRATE, AT_0, AT_100, TRIGGERS]);
  expect(fake.points.filter((point) => /^(reads|all) /.test(point))).toEqual([
    'reads https://staging.test/v1 v1',
    'all https://staging.test/v1 v2 by override store-staging="v2"',
    'all https://staging.test/v1 v2',
    'all https://staging.test/v1 v2',
  ]);
});

test('a release has another id each time by default', async () => {
  for (const _ of [1, 2]) expect(await fake.release(['staging'])).toMatchObject({ code: 0 });
});

describe('before any change', () => {
  const bind = (name: string, value: object) => () => {
    production().newBindings[name] = value;
  };

  test.each([
    ['a promotion without a terminal and --yes', ['promote'], () => {}, 'add --yes'],
    [
      'one with changed files',
      PROMOTE,
      () => (fake.git.status = ' M a.ts'),
      'or remove first: M a.ts',
    ],
    [
      'one with an ignored file',
      PROMOTE,
      () => (fake.git['ls-files'] = 'a.ts'),
      'or remove first: a.ts',
    ],
    [
      'one of another commit',
      PROMOTE,
      () => (staging().annotations['workers/tag'] = 'an older commit'),
      'staging serves the commit an older commit, not head',
    ],
    [
      'one of other bytes',
      PROMOTE,
      () => (fake.script = 'another script'),
      "the build differs from staging's",
    ],
    [
      'one during a release to staging',
      PROMOTE,
      () => fake.deploy('staging', 'v1@90% v2@10%'),
      'a release is unfinished: time 1 somebody deployed v1@90% v2@10%. "Unfinished releases"',
    ],
    [
      'one during another',
      PROMOTE,
      () => fake.deploy('production', 'v1@90% v2@10%'),
      'a release is unfinished: time 1 berta deployed v1@90% v2@10%. "Unfinished releases"',
    ],
    [
      'one with the id of the one before',
      PROMOTE,
      () => fake.deploy('production', 'v1@100%', 'mine'),
      'an earlier release has this id: choose another --id',
    ],
    ['one with nothing deployed', PROMOTE, dropDeployment, 'production has no other deployment'],
    [
      'one with a strange list',
      PROMOTE,
      () => (production().outputs.list = '{}'),
      'list is not as expected: {}',
    ],
  ])('%s is refused', async (_, args, given, error) => {
    given();
    const { code, stderr } = await fake.release(args);
    expect([code, fake.changes()]).toEqual([1, []]);
    expect(stderr).toContain(error);
  });

  test.each([
    ['has another database', bind('DB', { id: 'other' }), 'DB of v2 is not that of v1, which'],
    ['has other keys', bind('API_KEYS', { namespace_id: 'other' }), 'API_KEYS of v2 is not that'],
    [
      'has another address',
      bind('BASE_URL', { text: 'other' }),
      'BASE_URL of v2 is not that of v1',
    ],
    ['would stop writes', bind('WRITES_STOPPED', {}), 'WRITES_STOPPED of v2 is not that of v1'],
    ['has no version', () => (production().outputs.upload = '{}'), 'wrangler names no version'],
    [
      'has a migration without success, although wrangler has',
      () => production().toApply.splice(0, 1, '3.sql'),
      'migrations failed: 2.sql. ',
    ],
  ])('a promotion that %s deploys nothing', async (_, given, error) => {
    given();
    const { stderr } = await fake.release(PROMOTE);
    expect(stderr).toContain(error);
    expect(stderr.endsWith('\nerror: production serves v1@100%\n')).toBe(true);
    expect(production().deployments).toHaveLength(1);
  });
});

describe('a promotion that goes back', () => {
  /** The step takes effect only while the release waits for that, on its way back. */
  const takeEffectLate = () => {
    fake.at(SETTLE, share);
    throw new Error('timed out');
  };

  test.each([
    [
      'after a call without an effect',
      after(AT_10),
      dropDeployment,
      'production serves v1@100% v2@0%, not',
    ],
    ['after a call with a late effect', before(AT_10), takeEffectLate, 'error: timed out'],
  ])('%s serves the old version', async (_, at, event, error) => {
    fake.at(at, event);
    const { code, stderr } = await fake.release(PROMOTE);
    expect(stderr).toContain(error);
    expect(stderr.endsWith('\nerror: production serves v1@100%\n')).toBe(true);
    expect([code, fake.served()]).toEqual([1, 'v1@100%']);
  });

  const failToRead = () => [fake.at(LIST, fail, 99), fail()];
  const failTwice = () => [
    overtake(),
    fake.at(before('rollback other --yes --message mine'), fail, 99),
  ];
  const rollbackTo = (version: string) =>
    `Run: npx wrangler rollback ${version} --env production --config wrangler.toml`;
  /** Between a release's look and its change. */
  const promoteByHand = () => fake.deploy('production', 'v1@100% other@0%');

  test.each([
    ['cannot read deployments', PAUSE, failToRead, rollbackTo('v1')],
    [
      'cannot put back the deployment of another operator',
      before(AT_10),
      failTwice,
      rollbackTo('other'),
    ],
    [
      'finds another promotion',
      before(AT_0),
      promoteByHand,
      'See "Unfinished releases" in docs/operations.md',
    ],
  ])('but %s ends with what to do', async (_, at, event, fix) => {
    fake.at(at, event);
    const { code, stderr } = await fake.release(PROMOTE);
    expect(stderr.endsWith(`could not confirm the rollback. ${fix}\n`)).toBe(true);
    const pauses = [0, 15, 30, 60, 120, 300].map((seconds) => `pause ${seconds * 1000}`);
    expect([code, fake.points]).toEqual([1, expect.arrayContaining(pauses)]);
  });
});

describe('undo', () => {
  const SET_UP = 'require set-up of production';
  // A call that failed may take effect late: hence the last look.
  const LOOK_BACK = [WAY_BACK, LIST, before(BACK), after(BACK), SETTLE, LIST];

  test('goes back from a release that was killed', async () => {
    share();
    const { code, stdout } = await fake.release(UNDO);
    expect([code, stdout]).toEqual([0, 'Going back …\nproduction serves v1@100%\n']);
    expect(fake.points).toEqual([SET_UP, 'reject other configurations', ...LOOK_BACK]);
  });

  test('fails at once where nothing is set up', async () => {
    fake.at(SET_UP, fail);
    const { code } = await fake.release(UNDO);
    expect([code, fake.points]).toEqual([1, [SET_UP]]);
  });

  test('names a file that wrangler would prefer, and goes back all the same', async () => {
    share();
    fake.at('reject other configurations', fail);
    const { code, stderr } = await fake.release(UNDO);
    expect([code, stderr, fake.served()]).toEqual([0, 'warning: it failed\n', 'v1@100%']);
  });

  test('fails when it leaves two versions of another release', async () => {
    fake.deploy('production', 'x@10% y@90%', 'another');
    const { code, stderr } = await fake.release(UNDO);
    expect([code, fake.changes()]).toEqual([1, []]);
    expect(stderr).toContain('a release is unfinished: time 1 berta deployed x@10% y@90%');
  });

  test('changes nothing after a release that has gone back itself', async () => {
    share();
    fake.deploy('production', 'v1@100%', 'mine');
    const { code, stdout } = await fake.release(UNDO);
    expect([code, fake.changes()]).toEqual([0, []]);
    const reason = 'Nothing to undo: the last deployment of others is served, not mine';
    expect(stdout.endsWith(`\n${reason}\nproduction serves v1@100%\n`)).toBe(true);
  });

  test.each([
    ['fails once', fail, 'v1@100%'],
    ['is overtaken', overtake, 'other@100%'],
  ])('that %s at any point ends with what others serve', async (_, event, served) => {
    const check: Check = ({ code, stdout }, _i, place) => {
      // The real pause does not fail.
      if (event === fail && (place.endsWith(SET_UP) || place.endsWith(WAY_BACK))) return;
      expect([code, fake.served()], place).toEqual([0, served]);
      expect(stdout, place).toContain(`production serves ${served}`);
    };
    await disturb(UNDO, share, event, check);
  });
});
