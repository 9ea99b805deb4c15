/** Releases in this process, against a fake: every refusal, every failure, and another operator at every point. */
import { beforeEach, describe, expect, test } from 'vitest';
import { type Fake, fakeRelease, HEAD, NEW, OLD, OTHER } from './fake-release.ts';

let fake: Fake;

beforeEach(() => {
  fake = fakeRelease();
});

const PROMOTE = ['promote', '--yes', '--run', 'mine', '--hold', '20'];
const STAGING = ['staging', '--run', 'mine'];
const ROLLBACK = ['rollback', OLD, '--env', 'production', '--yes'];
const UNDO = ['undo', 'mine', '--env', 'production', '--yes'];

const [UPLOAD, MIGRATE] = ['versions upload', 'd1 migrations apply DB --remote'];
const AT_0 = `versions deploy ${NEW}@0% ${OLD}@100%`;
const AT_10 = `versions deploy ${NEW}@10% ${OLD}@90%`;
const AT_100 = `versions deploy ${NEW}@100%`;
const TRIGGERS = 'triggers deploy';
const BACK = `rollback ${OLD}`;
/** What production serves at 10 %. */
const SHARED = `${NEW}@10% ${OLD}@90%`;
const SERVES_OLD = `production serves ${OLD}@100%`;

/** Each change of a promotion, before and after it takes effect, and its tests. Each matches one line of `fake.calls`. */
const POINTS = [
  ...[UPLOAD, MIGRATE, AT_0, AT_10, AT_100, TRIGGERS].flatMap((step) => [
    `before production ${step}`,
    `after production ${step}`,
  ]),
  `reads production ${NEW} by override`,
  'watch production',
  'pause 10000',
  '^log$',
  `reads production ${NEW}$`,
];

/** Another operator serves another version. */
const rollBackByHand = () => fake.deploy('production', `${OTHER}@100%`);
/** Each of the points fails once. A point that is given twice fails twice. */
function fails(...points: string[]): void {
  for (const point of points) fake.fail(new RegExp(point));
}
/** Takes effect only while the release waits for that, on its way back. */
const takesEffectLate = (step: string) =>
  fake.on(new RegExp(`before production ${step}`), () => {
    fake.on(/pause 15000/, () => fake.deploy('production', `${NEW}@100%`, 'mine', 'me'));
    throw new Error('timed out');
  });
const checkOut = () => {
  fake.git['rev-parse'] = 'd'.repeat(40);
};

/** The changes, without environment and options. */
const changes = () =>
  fake.changes().map((call) => call.replace(/^\w+ /, '').replace(/ (--yes|--message|\/).*/, ''));

/** Runs a command that must fail. Returns the last line of standard error. */
async function failing(args: string[], options?: { answer?: string }): Promise<string> {
  const { code, stderr } = await fake.release(args, options);
  expect(code).toBe(1);
  return stderr.trimEnd().split('\n').at(-1) ?? '';
}

describe('a release that succeeds', () => {
  test('a promotion is tested by override for five minutes at 10 %', async () => {
    const { code, stdout, stderr } = await fake.release(['promote', '--yes', '--run', 'mine']);
    expect([code, stderr]).toEqual([0, '']);
    const restore = 'npx wrangler d1 time-travel restore DB --env production --bookmark a-bookmark';
    expect(stdout).toContain(`To restore the data: ${restore}\n`);
    expect(stdout).toMatch(/production serves new to all\.\n$/);
    expect(changes()).toEqual([UPLOAD, MIGRATE, AT_0, AT_10, AT_100, TRIGGERS]);
    const overriding = `reads production ${NEW} by override store-production="${NEW}"`;
    // At 0 %, at the start of 10 %, and every ten seconds of it.
    const held = Array(30).fill(['pause 10000', overriding]).flat();
    const tests = fake.calls.filter((call) => /^(reads|all|pause)/.test(call));
    expect(tests).toEqual([
      `reads production ${OLD}`,
      ...[overriding, overriding, ...held],
      ...Array(2).fill(`reads production ${NEW}`),
    ]);
  });

  test('a promotion watches the log of the new version while it holds 10 %', async () => {
    await fake.release(PROMOTE);
    const steps = fake.calls.filter((call) => /watch|deploy /.test(call));
    expect(steps.map((call) => call.replace(/ --yes.*/, ''))).toEqual([
      `production ${AT_0}`,
      `watch production ${NEW}`,
      `production ${AT_10}`,
      'watch ends',
      `production ${AT_100}`,
    ]);
  });

  test.each([
    ['--hold', '0'],
    ['--hold', '20', '--unwatched'],
  ])('a promotion with %s %s %s does not watch the log', async (...options) => {
    fake.fail(/watch/);
    const command = ['promote', '--yes', ...options];
    expect(await fake.release(command)).toMatchObject({ code: 0, stderr: '' });
    expect(fake.served('production')).toBe(`${NEW}@100%`);
  });

  test('a promotion holds 10 % for exactly the seconds of --hold', async () => {
    await fake.release(['promote', '--yes', '--hold', '15']);
    const pauses = fake.calls.filter((call) => call.startsWith('pause'));
    expect(pauses).toEqual(['pause 10000', 'pause 5000']);
  });

  test('a release to staging is tested with every operation, without a share', async () => {
    expect(await fake.release(STAGING)).toMatchObject({ code: 0, stderr: '' });
    expect(changes()).toEqual([UPLOAD, MIGRATE, AT_0, AT_100, TRIGGERS]);
    expect(fake.calls.filter((call) => /^(reads|all) /.test(call))).toEqual([
      `reads staging ${OLD}`,
      `all staging ${NEW} by override store-staging="${NEW}"`,
      ...Array(2).fill(`all staging ${NEW}`),
    ]);
  });

  test('a version notes commit and SHA-256, and a deployment the id of its run', async () => {
    // So that the rollback has a message, too.
    fails(`^reads production ${NEW}$`);
    await fake.release(PROMOTE);
    const { annotations, deployments } = fake.environments.production;
    const notes = `--tag ${HEAD} --message ${annotations['workers/message']}`;
    const [upload, , ...deploys] = fake.changes();
    expect(upload).toContain(`/index.js --no-bundle --no-x-provision --strict ${notes}`);
    for (const call of deploys) expect(call).toMatch(/ --yes --message mine$/);
    expect(deployments.slice(1).map(({ message }) => message)).toEqual(Array(4).fill('mine'));
  });

  test('two runs have different ids by default', async () => {
    await fake.release(['staging']);
    await fake.release(['staging']);
    const messages = fake.environments.staging.deployments.map(({ message }) => message);
    // The first deployment is of neither.
    expect(new Set(messages).size).toBe(3);
  });

  test('a release says that it goes back in history', async () => {
    expect((await fake.release(['staging'])).stdout).not.toContain('BACK');
    fake.git['merge-base'] = 'exit 1';
    expect((await fake.release(['staging'])).stdout).toContain('It goes BACK in history');
  });

  test('a release does not say so if it does not know the served commit', async () => {
    fake.git['merge-base'] = 'exit 128';
    expect((await fake.release(['staging'])).stdout).not.toContain('BACK');
    fake.environments.staging.annotations = {};
    const { stdout } = await fake.release(['staging']);
    expect(stdout).toContain('The served commit is unknown and the release is');
    expect(stdout).not.toContain('BACK');
  });

  test('a read that fails once is read once more', async () => {
    for (const command of ['deployments list', 'versions view', 'time-travel info'])
      fails(`before production .*${command}`);
    expect(await fake.release(PROMOTE)).toMatchObject({ code: 0, stderr: '' });
  });

  test('a release resumes writes with --resume-writes', async () => {
    for (const each of Object.values(fake.environments)) each.versionsWithStoppedWrites.push(OLD);
    for (const command of [STAGING, PROMOTE])
      expect(await fake.release([...command, '--resume-writes'])).toMatchObject({ code: 0 });
    expect(fake.served('production')).toBe(`${NEW}@100%`);
  });

  test.each([
    ['that succeeds', 'no such point'],
    ['that is refused', '^reads'],
    ['that goes back', 'pause 10000'],
    ['whose build fails', '^build'],
  ])('a release %s removes its build', async (_, point) => {
    fails(point);
    await fake.release(PROMOTE);
    expect(fake.folders).toEqual(new Set());
  });

  test.each([
    ['y\n', 0, 6],
    [' YES \n', 0, 6],
    ['\n', 1, 0],
    ['not yes\n', 1, 0],
    ['yesterday\n', 1, 0],
  ])('a promotion at the answer %j exits with %d after %d changes', async (answer, code, count) => {
    expect(await fake.release(['promote', '--hold', '0'], { answer })).toMatchObject({ code });
    expect(changes()).toHaveLength(count);
  });
});

describe('refusals before anything changes', () => {
  const [ours, theirs] = ['production', 'staging'] as const;
  const git = (name: keyof Fake['git'], output: string) => {
    fake.git[name] = output;
  };
  const bind = (name: 'DB' | 'API_KEYS' | 'BASE_URL') => {
    fake.environments[ours].bindings[name] = 'https://another.test';
  };
  const share = (name: 'vars' | 'd1_databases' | 'kv_namespaces') =>
    Object.assign(fake.environments[theirs].config, {
      [name]: fake.environments[ours].config[name],
    });
  const releaseBefore = () => fake.deploy(ours, `${OLD}@100%`, 'mine');
  const rollStagingBack = () => {
    fake.environments[theirs].annotations = { 'workers/tag': 'an older commit' };
  };
  const addRoute = () =>
    fake.environments[ours].config.routes.push({ pattern: 'another.test', custom_domain: true });

  test.each<[string, () => void, RegExp]>([
    ['outside of a git repository', () => git('status', 'exit 128'), /git is required\. In a copy/],
    ['with changed files', () => git('status', ' M src/app.ts'), /remove first: M src/],
    ['with a new file', () => git('status', '?? src/new.ts'), /remove first: \?\? src/],
    ['with an ignored file', () => git('ls-files', 'src/a.ts'), /remove first: src/],
    ['of another commit than staging serves', () => git('rev-parse', 'x'), /not serve HEAD/],
    ['of other bytes', () => fake.rebuild('other bytes'), /the build differs from staging's/],
    [
      'during a release to staging',
      () => fake.deploy(theirs, SHARED),
      /is unfinished: time 1 berta/,
    ],
    [
      'during a release',
      () => fake.deploy(ours, SHARED),
      /unfinished: time 1 berta deployed new@10% old@90%. "Unfin/,
    ],
    ['with the id of another release', releaseBefore, /an earlier release has the id mine: ch/],
    ['over a version that fails its test', () => fails('^reads production old'), /failed/],
    ['with another database', () => bind('DB'), /DB = .* is not in old: "Move a store"/],
    ['with another KV namespace', () => bind('API_KEYS'), /API_KEYS = .* is not in/],
    ['with another address', () => bind('BASE_URL'), /BASE_URL = .* is not in/],
    ['with a shared database', () => share('d1_databases'), /DB = .* is of both/],
    ['whose staging is rolled back meanwhile', () => fake.on(/^reads/, rollStagingBack), /HEAD/],
    ['with a shared KV namespace', () => share('kv_namespaces'), /API_KEYS = .* is of both/],
    ['with a shared address', () => share('vars'), /only route must be|of both/],
    ['with another route', addRoute, /only route must be/],
    ['after a change in the dashboard', () => fails('before .*--strict'), /failed/],
    ['whose HEAD moves', () => fake.on(/^reads/, checkOut), /another commit was checked out/],
    ['that is interrupted', () => fake.on(/^reads/, () => fake.interrupt()), /interrupted/],
    ['whose reads fail twice', () => fake.fail(/production deployments list/, 2), /failed/],
  ])('a promotion %s is refused', async (_, given, problem) => {
    given();
    expect(await failing(PROMOTE)).toMatch(problem);
    expect(changes()).toEqual([]);
  });

  test('a promotion without a terminal and --yes is refused', async () => {
    expect(await failing(['promote'])).toContain('add --yes');
    expect(changes()).toEqual([]);
  });
});

/** Failures with which a release goes on, and the command that it names at its end. */
const HARMLESS: Record<string, string> = {
  [`after production ${AT_0}`]: '',
  [`after production ${AT_10}`]: '',
  [`after production ${AT_100}`]: AT_100,
  [`before production ${TRIGGERS}`]: TRIGGERS,
  [`after production ${TRIGGERS}`]: TRIGGERS,
};

describe('a promotion that fails', () => {
  const hasDeployed = (point: string) => !/upload|migrations/.test(point);
  const endAt = (point: string) => (hasDeployed(point) ? SERVES_OLD : 'no version was deployed');
  /** The change that is under way, and still takes effect. */
  const begunAt = (point: string) =>
    point.startsWith('before') ? [point.replace('before production ', '')] : [];

  test.each(POINTS.filter((point) => !(point in HARMLESS)))(
    'a promotion that fails at "%s" ends with the old version',
    async (point) => {
      fails(point);
      expect(await failing(PROMOTE)).toMatch(new RegExp(`^error: failed .*; ${endAt(point)}`));
      expect(fake.served('production')).toBe(`${OLD}@100%`);
    },
  );

  test.each(Object.entries(HARMLESS))(
    'a promotion that fails at "%s" goes on, and names the settings "%s"',
    async (point, command) => {
      fails(point);
      const { code, stdout, stderr } = await fake.release(PROMOTE);
      expect(stdout).toContain(`production serves ${NEW} to all`);
      const fix = `. Run: npx wrangler ${command} --env production\n`;
      expect([code, stderr]).toEqual(command ? [1, expect.stringContaining(fix)] : [0, '']);
      expect(fake.served('production')).toBe(`${NEW}@100%`);
    },
  );

  test('a promotion whose log settings and triggers fail names both commands', async () => {
    fails(`after production ${AT_100}`, `before production ${TRIGGERS}`);
    const error = await failing(PROMOTE);
    for (const command of [AT_100, TRIGGERS])
      expect(error).toContain(`. Run: npx wrangler ${command} --env production`);
  });

  test.each(POINTS)(
    'a promotion that is interrupted at "%s" ends with the old version',
    async (point) => {
      let before = { changes: 0, calls: 0 };
      fake.on(new RegExp(point), () => {
        before = { changes: changes().length, calls: fake.calls.length };
        fake.interrupt();
      });
      expect(await failing(PROMOTE)).toMatch(new RegExp(`^error: interrupted; ${endAt(point)}`));
      expect(fake.served('production')).toBe(`${OLD}@100%`);
      const back = hasDeployed(point) ? [BACK] : [];
      expect(changes().slice(before.changes)).toEqual([...begunAt(point), ...back]);
      // A CI job is killed after ten seconds.
      expect(fake.calls.slice(before.calls).join()).not.toContain('override');
    },
  );

  test.each(POINTS)('a promotion gives way to another operator at "%s"', async (point) => {
    let before = 0;
    fake.on(new RegExp(point), () => {
      before = changes().length;
      rollBackByHand();
    });
    expect(await failing(PROMOTE)).toContain(`berta deployed ${OTHER}@100%; `);
    expect(fake.served('production')).toBe(`${OTHER}@100%`);
    const begun = begunAt(point);
    const back = begun[0]?.startsWith('versions deploy') ? [`rollback ${OTHER}`] : [];
    expect(changes().slice(before)).toEqual([...begun, ...back]);
  });

  const WAY_BACK = 'before production rollback';
  test('a promotion on its way back gives way to another operator', async () => {
    fails(`^reads production ${NEW}$`);
    fake.on(new RegExp(WAY_BACK), rollBackByHand);
    expect(await failing(PROMOTE)).toContain(`; production serves ${OTHER}@100%`);
    expect(changes().slice(-2)).toEqual([BACK, `rollback ${OTHER}`]);
    expect(fake.served('production')).toBe(`${OTHER}@100%`);
  });

  const stopWrites = (version: string) =>
    fake.environments.production.versionsWithStoppedWrites.push(version);
  const undoMeanwhile = () => fake.deploy('production', `${OLD}@100%`, 'mine', 'me');
  const unlisted = () => fake.environments.production.deployments.pop();

  test.each<[title: string, given: () => void, error: string]>([
    ['times out at 0 %, which takes effect later', () => takesEffectLate(AT_0), 'timed out'],
    ['times out at 10 %, which takes effect later', () => takesEffectLate(AT_10), 'timed out'],
    ['times out at 100 %, which takes effect later', () => takesEffectLate(AT_100), 'timed out'],
    ['fails, and then its way back', () => fails('pause 10000', WAY_BACK), 'pause 10000'],
    [
      'fails, and then its way back, after its effect',
      () => fails('pause', 'after .*rollback'),
      '',
    ],
    [
      'fails after its settings',
      () => [fails(`after .*${AT_100}`), fake.on(/triggers/, () => fails('^reads'))],
      'reads',
    ],
    ['is not listed', () => fake.on(/after .*@0%/, unlisted), `it serves ${OLD}@100%`],
    ['stays without effect at 10 %', () => fake.ignored.push(/@10%/), `it serves ${NEW}@0% ${OLD}`],
    ['stays at 10 %', () => fake.ignored.push(/new@100%/), `it serves ${SHARED}`],
    [
      'is undone meanwhile',
      () => fake.on(/pause 10000/, undoMeanwhile),
      `it serves ${OLD}@100%, n`,
    ],
    [
      'is undone at its last test',
      () => fake.on(/triggers/, () => fake.on(/^reads/, undoMeanwhile)),
      `it serves ${OLD}@100%, not ${NEW}`,
    ],
    ['cannot watch the log', () => fails('watch'), 'failed watch'],
    ['logs a 500', () => fails('^log$'), 'failed .log'],
    ['finds another HEAD at 10 %', () => fake.on(/pause 10/, checkOut), 'another commit'],
    ['finds another HEAD at 100 %', () => fake.on(/after .*new@100%/, checkOut), 'another commit'],
    [
      'finds another HEAD at its triggers',
      () => fake.on(/before .* trig/, checkOut),
      'another com',
    ],
  ])('a promotion that %s ends with the old version', async (_, given, error) => {
    given();
    const { code, stderr } = await fake.release(PROMOTE);
    expect(stderr).toMatch(new RegExp(`^error: .*${error}.*; ${SERVES_OLD}$`, 'm'));
    expect([code, stderr.includes('npx wrangler')]).toEqual([1, false]);
    expect(fake.served('production')).toBe(`${OLD}@100%`);
    // A call that failed may take effect late.
    expect(fake.calls.at(-2)).toBe('pause 15000');
  });

  test.each<[title: string, given: () => void, error: string]>([
    ['would resume writes', () => stopWrites(OLD), 'would resume writes: "Stop writes" in'],
    ['finds another HEAD', () => fake.on(/after .* upload/, checkOut), 'another commit'],
  ])('a promotion that %s deploys nothing', async (_, given, error) => {
    given();
    expect(await failing(PROMOTE)).toMatch(new RegExp(`${error}.*; no version was deployed`));
    expect(changes()).toEqual([UPLOAD]);
  });

  test('a promotion that would stop writes deploys nothing, even with --resume-writes', async () => {
    stopWrites(NEW);
    const error = await failing([...PROMOTE, '--resume-writes']);
    expect(error).toContain('new would stop writes: "Stop writes" in');
    expect(changes()).toEqual([UPLOAD]);
  });

  test('a promotion whose migration has no success, although wrangler has, deploys nothing', async () => {
    fake.environments.production.migrations = '│ 0004_a.sql │ ❌ │\n│ 0005_b.sql │ ✅ │';
    const error = await failing(PROMOTE);
    expect(error).toMatch(/a migration failed: .* 0004_a.sql │ ❌ .*; no version was deployed$/);
    expect(changes()).toEqual([UPLOAD, MIGRATE]);
  });

  test('a promotion that cannot watch the log never serves 10 %', async () => {
    fails('watch');
    await failing(PROMOTE);
    expect(changes()).toEqual([UPLOAD, MIGRATE, AT_0, BACK]);
  });

  test.each(['pause 10000', '^log$', `before production ${AT_10}`])(
    'a promotion that fails at "%s" watches the log no more',
    async (point) => {
      fails(point);
      await failing(PROMOTE);
      expect(fake.calls).toContain('watch ends');
    },
  );

  const blindly = () => fake.fail(/deployments list/, 99);
  const promoteByHand = () => fake.deploy('production', `${OLD}@100% ${OTHER}@0%`);
  test.each<[title: string, given: () => void, good: string, served: string]>([
    ['whose way back fails twice', () => fails('pause', WAY_BACK, WAY_BACK), OLD, SHARED],
    [
      'that cannot read deployments',
      () => [fake.on(/pause 10000/, blindly), fails('pause')],
      OLD,
      SHARED,
    ],
    [
      'that cannot put back the deployment of another operator',
      () => [fake.on(/before .*@10%/, rollBackByHand), fails(WAY_BACK, WAY_BACK)],
      OTHER,
      SHARED,
    ],
    [
      'that cannot read deployments after the one of another operator',
      () => fake.on(/pause 10000/, () => [rollBackByHand(), fake.on(/pause 15000/, blindly)]),
      OTHER,
      `${OTHER}@100%`,
    ],
    [
      'beside another promotion',
      () => fake.on(/before .*@0%/, promoteByHand),
      OLD,
      `${NEW}@0% ${OLD}@100%`,
    ],
  ])('a promotion %s ends with the command to run', async (_, given, good, served) => {
    given();
    const command = `Run: npx wrangler rollback ${good} --env production`;
    const { code, stderr } = await fake.release(PROMOTE);
    expect([code, stderr.trimEnd().split('\n')]).toEqual([1, Array(3).fill(expect.anything())]);
    expect(stderr).toContain(`could not confirm that it went back. ${command}\n`);
    expect(fake.calls).toContain('pause 15000');
    expect(fake.served('production')).toBe(served);
  });
});

describe('rollback', () => {
  const shareByHand = () => fake.deploy('production', SHARED);
  beforeEach(shareByHand);

  test('a rollback serves the version, tests it, and reads later what is served', async () => {
    const { code, stdout, stderr } = await fake.release(ROLLBACK);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/production serves old@100% and is tested.\n$/);
    expect(changes()).toEqual([BACK]);
    expect(fake.calls.slice(-3)).toEqual([
      `reads production ${OLD}`,
      'pause 15000',
      'production deployments list --json',
    ]);
  });

  test('a rollback reads the wanted version once', async () => {
    await fake.release(ROLLBACK);
    const reads = fake.calls.filter((call) => call.includes(`versions view ${OLD}`));
    // Once, and once because it is served to 90 %.
    expect(reads).toHaveLength(2);
  });

  test('a rollback without a key says that it is not tested', async () => {
    const { code, stdout } = await fake.release(ROLLBACK, { apiKey: '' });
    expect([code, stdout]).toEqual([0, expect.stringContaining('not tested')]);
    expect(fake.calls.some((call) => call.startsWith('reads'))).toBe(false);
  });

  test.each<[title: string, given: () => void, error: string, served: string]>([
    ['fails its test', () => fails('^reads'), 'failed .reads', `${OLD}@100%`],
    ['another operator replaces', () => fake.on(/pause/, rollBackByHand), '', `${OTHER}@100%`],
    ['another operator shares', () => fake.on(/pause/, shareByHand), '', SHARED],
    ['has no effect', () => fake.ignored.push(/rollback/), '', SHARED],
    ['fails', () => fails('before .* rollback'), 'failed before', SHARED],
    ['fails after it took effect', () => fails('after .* rollback'), 'after', `${OLD}@100%`],
    ['is interrupted', () => fake.on(/^reads/, () => fake.interrupt()), 'interr', `${OLD}@100%`],
  ])('a rollback that %s says what is served', async (_, given, error, served) => {
    given();
    const { code, stderr } = await fake.release(ROLLBACK);
    const last = `error: production serves ${served}, not ${OLD}@100% with a passed test`;
    const first = error ? [expect.stringMatching(`^error: .*${error}`)] : [];
    expect([code, stderr.trimEnd().split('\n')]).toEqual([1, [...first, last]]);
  });

  test('a rollback that fails and cannot be read says both', async () => {
    fails('before .* rollback');
    fake.on(/pause/, () => fake.fail(/ list --json/, 2));
    const { code, stderr } = await fake.release(ROLLBACK);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/failed before.*\nerror: it is unknown what is served: failed .*\n$/),
    ]);
  });

  test.each([undefined, ''])(
    'a rollback goes on after deployments with the message %j',
    async (none) => {
      fake.environments.production.deployments.length = 0;
      fake.deploy('production', `${NEW}@100%`);
      const [deployment] = fake.environments.production.deployments;
      Object.assign(deployment ?? {}, { message: none });
      expect(await fake.release(ROLLBACK)).toMatchObject({ code: 0 });
    },
  );

  test('a rollback on staging does not ask', async () => {
    const command = ['rollback', OLD, '--env', 'staging'];
    expect(await fake.release(command)).toMatchObject({ code: 0 });
  });

  const production = () => fake.environments.production;
  test.each<[title: string, given: () => void, error: string]>([
    ['uses another database', () => Object.assign(production().bindings, { DB: 'x' }), 'Move a st'],
    [
      'resumes writes',
      () => production().versionsWithStoppedWrites.push(NEW, OTHER),
      'old would resume writes',
    ],
    [
      'stops writes',
      () => production().versionsWithStoppedWrites.push(OLD),
      'old would stop writes',
    ],
  ])('a rollback to a version that %s is refused, unless forced', async (_, given, error) => {
    given();
    const refusal = await failing(ROLLBACK);
    expect(refusal).toContain(error);
    expect(refusal).toContain('To roll back without this check: --force');
    expect(changes()).toEqual([]);
    expect(await fake.release([...ROLLBACK, '--force'])).toMatchObject({ code: 0 });
    expect(changes()).toEqual([BACK]);
  });

  test('a rollback needs neither the right route nor a store of its own', async () => {
    const { config } = fake.environments.production;
    config.routes.push({ pattern: 'another.test', custom_domain: true });
    Object.assign(fake.environments.staging.config, { vars: config.vars });
    expect(await fake.release(ROLLBACK)).toMatchObject({ code: 0 });
  });
});

/** Each point before the first change. */
test.each([
  [ROLLBACK, 'after production versions view old'],
  [ROLLBACK, 'after production deployments list'],
  [ROLLBACK, 'after production versions view new'],
  [[...ROLLBACK, '--force'], 'confirm'],
  [UNDO, 'after production deployments list'],
])('%s that is interrupted at "%s" changes nothing', async (args, point) => {
  fake.deploy('production', SHARED, 'mine');
  fake.on(new RegExp(point), () => fake.interrupt());
  expect(await failing(args)).toBe('error: interrupted');
  expect(changes()).toEqual([]);
  expect(fake.served('production')).toBe(SHARED);
});

const BERTA = `time 1 berta deployed ${OLD}@90% ${OTHER}@10%`;
const UNFINISHED = '"Unfinished releases" in docs/operations.md';

describe('undo', () => {
  test.each([`${NEW}@0% ${OLD}@100%`, SHARED, `${NEW}@100%`])(
    'undo goes back from a run that was killed at %s',
    async (shares) => {
      fake.deploy('production', shares, 'mine');
      const { code, stdout } = await fake.release(UNDO);
      expect([code, stdout]).toEqual([0, expect.stringContaining(`serves ${OLD}@100%`)]);
      expect(fake.served('production')).toBe(`${OLD}@100%`);
    },
  );

  test('undo changes nothing if another operator has deployed since', async () => {
    fake.deploy('production', SHARED, 'mine');
    rollBackByHand();
    expect(await fake.release(UNDO)).toMatchObject({ code: 0 });
    expect(changes()).toEqual([]);
  });

  test('undo of a run with all ten deployments names the commands that choose a version', async () => {
    for (let i = 0; i < 10; i += 1) fake.deploy('production', SHARED, 'mine');
    const error = await failing(UNDO);
    expect(error).toContain('npx wrangler versions list --env production');
    expect(error).toContain('npm run release -- rollback <version> --env production');
    expect(changes()).toEqual([]);
  });

  test('undo of a run that has deployed nothing says what is served', async () => {
    const { code, stdout } = await fake.release(UNDO);
    expect(code).toBe(0);
    const reason = 'None of the ten newest deployments is of mine: nothing to undo.';
    expect(stdout).toBe(`${reason} ${SERVES_OLD}\n`);
    expect(changes()).toEqual([]);
  });

  test('undo beside another release names the page, and no version', async () => {
    fake.deploy('production', `${OTHER}@10% ${OLD}@90%`);
    fake.deploy('production', SHARED, 'mine');
    const error = await failing(UNDO);
    expect(error).toBe(`error: a release is unfinished: ${BERTA}. ${UNFINISHED}`);
    expect(changes()).toEqual([]);
  });

  test('undo that fails twice prints the command to run', async () => {
    fake.deploy('production', `${NEW}@100%`, 'mine');
    fake.fail(/before production rollback/, 2);
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
  expect(changes()).toEqual([]);
});

test.each([
  ['promote --hold 1.5'],
  ['promote --hold -1'],
  ['rollback old'],
  ['rollback old --env local'],
  ['rollback x --env production'],
  ['rollback  --env production --force'],
  ['rollback 00000000-0000-4000-8000-00000000000 --env production'],
  ['staging --hold 0'],
  ['rollback --env production -- --help'],
  ['rollback --env production -- -h'],
  ['staging --run '],
  ['staging --run a!'],
  ['undo  --env production'],
])('"%s" is refused with the exit code 2', async (args) => {
  const { code, stderr } = await fake.release(args.split(' '));
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: .*\n$/)]);
  expect(fake.calls).toEqual([]);
});
