/** Releases in this process, against a fake: every refusal, every failure, and every other operator. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Fake, fakeRelease, HEAD, NEW, OLD, OTHER } from './fake-release.ts';

let fake: Fake;

beforeEach(() => {
  fake = fakeRelease();
});
afterEach(() => fake.end());

/** Serves another operator's version. */
const rollBackByHand = () => fake.deploy('production', `${OTHER}@100%`);

const PROMOTE = ['promote', '--yes', '--run', 'mine', '--hold', '20'];
const STAGING = ['staging', '--run', 'mine'];
const ROLLBACK = ['rollback', OLD ?? '', '--env', 'production', '--yes'];
const [UPLOAD, MIGRATE] = ['versions upload', 'd1 migrations apply DB --remote'];
const AT_0 = `versions deploy ${NEW}@0% ${OLD}@100%`;
const AT_10 = `versions deploy ${NEW}@10% ${OLD}@90%`;
const AT_100 = `versions deploy ${NEW}@100%`;
const TRIGGERS = 'triggers deploy';
const STEPS = [AT_0, AT_10, AT_100];
const HALF = `${NEW}@10% ${OLD}@90%`;
const BACK = `rollback ${OLD}`;
const BACK_COMMAND = `npx wrangler rollback ${OLD} --env production`;

/** The changes, without environment and options. */
const changes = () =>
  fake
    .changes()
    .map((call) => call.replace(/^\w+ /, '').replace(/ (--yes|--message|.\/|\/).*/, ''));

/** Runs a release that must fail with one line on standard error at its end. Returns that line. */
async function failing(args: string[], options?: { answer?: string; apiKey?: string }) {
  const { code, stderr } = await fake.release(args, options);
  expect(code).toBe(1);
  const line = stderr.trimEnd().split('\n').at(-1) ?? '';
  expect(line).toMatch(/^error: /);
  return line;
}

describe('a release', () => {
  test('to production is tested by override for five minutes at 10 %', async () => {
    const { code, stdout, stderr } = await fake.release(['promote', '--yes', '--run', 'mine']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/production serves new-+ to all\.\n$/);
    expect(changes()).toEqual([UPLOAD, MIGRATE, AT_0, AT_10, AT_100, TRIGGERS]);
    const from = fake.calls.findIndex((call) => call.includes('@10%'));
    const to = fake.calls.findIndex((call) => call.includes(AT_100));
    const held = fake.calls.slice(from + 2, to - 1);
    const tested = `reads production ${NEW} by override store-production="${NEW}"`;
    expect(held).toEqual([tested, ...Array(30).fill(['pause 10000', tested]).flat()]);
    const after = fake.calls.slice(to).filter((call) => call.startsWith('reads'));
    expect(after).toEqual(Array(2).fill(`reads production ${NEW}`));
  });

  test('to staging uses every operation, without a share in between', async () => {
    expect(await fake.release(STAGING)).toMatchObject({ code: 0, stderr: '' });
    expect(changes()).toEqual([UPLOAD, MIGRATE, AT_0, AT_100, TRIGGERS]);
    expect(fake.calls.filter((call) => /^(reads|all) /.test(call))).toEqual([
      `reads staging ${OLD}`,
      `all staging ${NEW} by override store-staging="${NEW}"`,
      ...Array(2).fill(`all staging ${NEW}`),
    ]);
  });

  test('notes the commit and the SHA-256 in its version, and its id in its deployments', async () => {
    await fake.release(PROMOTE);
    const { annotations, deployments } = fake.environments.production;
    const notes = `--strict --tag ${HEAD} --message ${annotations['workers/message']}`;
    expect(fake.changes()[0]).toContain(notes);
    expect(deployments.slice(1).map(({ message }) => message)).toEqual(Array(3).fill('mine'));
  });

  test('says that it goes back in history', async () => {
    fake.git['merge-base'] = 'fails';
    expect((await fake.release(STAGING)).stdout).toContain('goes BACK in history');
  });

  test('says that it cannot know, if the served commit is not in the history here', async () => {
    fake.git['merge-base'] = fake.git['cat-file'] = 'fails';
    const { stdout } = await fake.release(STAGING);
    expect(stdout).toContain('Whether it goes back in history is unknown.');
    expect(stdout).not.toContain('BACK');
  });

  test.each([
    ['after the upload', /after .*versions upload/, []],
    ['while 10 % is held', /pause 10000/, [MIGRATE, AT_0, AT_10, BACK]],
    ['before the triggers', /after .*deploy new-+@100%/, [MIGRATE, AT_0, AT_10, AT_100, BACK]],
  ])('stops if another commit is checked out %s', async (_, point, expected) => {
    fake.on(point, () => {
      fake.git['rev-parse'] = 'd'.repeat(40);
    });
    expect(await failing(PROMOTE)).toContain('another commit was checked out');
    expect(changes()).toEqual([UPLOAD, ...expected]);
    expect(fake.served('production')).toBe(`${OLD}@100%`);
  });

  test.each([[[NEW]], [[OLD]]])('stops if it would stop or resume writes: %j', async (stopping) => {
    fake.environments.production.stopping = stopping;
    expect(await failing(PROMOTE)).toContain('the release would stop or resume writes');
    expect(changes()).toEqual([UPLOAD]);
  });

  test.each([
    ['y\n', 0],
    ['yes\n', 0],
    ['\n', 1],
    ['no\n', 1],
  ])('at the answer %j exits with %d', async (answer, code) => {
    const args = ['promote', '--hold', '0'];
    expect(await fake.release(args, { answer })).toMatchObject({ code });
    expect(changes()).toHaveLength(code === 0 ? 6 : 0);
  });
});

describe('before anything changes, a release is refused', () => {
  const [ours, theirs] = ['production', 'staging'] as const;
  const bind = (name: 'DB' | 'API_KEYS' | 'BASE_URL') => {
    fake.environments.production.bindings[name] = 'https://another.test';
  };
  const git = (name: keyof Fake['git'], output: string) => {
    fake.git[name] = output;
  };
  const share = (name: 'vars' | 'd1_databases' | 'kv_namespaces') =>
    Object.assign(fake.environments[theirs].config, {
      [name]: fake.environments[ours].config[name],
    });
  const route = { pattern: 'another.test', custom_domain: true };

  test.each<[string, () => void, RegExp]>([
    ['with changed files', () => git('status', ' M src/app.ts'), /remove first: M src/],
    ['with ignored files', () => git('ls-files', 'public/.env'), /remove first: public/],
    ['of a commit that staging does not serve', () => git('rev-parse', 'x'), /not serve HEAD/],
    ['of other bytes', () => fake.rebuild('other bytes'), /the build differs from staging's/],
    ['during a release to staging', () => fake.deploy(theirs, HALF), /--env staging/],
    ['during a release', () => fake.deploy(ours, HALF), /rollback <version> --env production/],
    ['if the served version fails', () => fake.fail(/^reads production old/), /failed/],
    ['with another database', () => bind('DB'), /DB = .* is not in old-+: "Move a store"/],
    ['with another KV namespace', () => bind('API_KEYS'), /API_KEYS = .* is not in/],
    ['with another address', () => bind('BASE_URL'), /BASE_URL = .* is not in/],
    ['with a shared database', () => share('d1_databases'), /DB = .* is of both/],
    ['with a shared KV namespace', () => share('kv_namespaces'), /API_KEYS = .* is of both/],
    ['with a shared address', () => share('vars'), /only route must be|of both/],
    [
      'with another route',
      () => fake.environments[ours].config.routes.push(route),
      /only route must be/,
    ],
    ['after a change in the dashboard', () => fake.fail(/before .*--strict/), /failed/],
    ['of a new HEAD', () => fake.on(/^reads/, () => git('rev-parse', 'x')), /checked out/],
    ['when it is interrupted', () => fake.on(/^reads/, () => fake.interrupt()), /aborted/],
  ])('%s', async (_, given, problem) => {
    given();
    expect(await failing(PROMOTE)).toMatch(problem);
    expect(changes()).toEqual([]);
  });

  test('without a terminal and --yes', async () => {
    expect(await failing(['promote'])).toContain('add --yes');
    expect(changes()).toEqual([]);
  });

  test('and an unfinished one shows the list of deployments', async () => {
    fake.deploy(ours, HALF);
    const { stderr } = await fake.release(PROMOTE);
    const listed = [`time 1 berta deployed ${HALF}`, `time 0 anna deployed ${OLD}@100%`];
    expect(stderr.split('\n').slice(0, 2)).toEqual(listed);
  });
});

describe('a release that fails', () => {
  test.each([
    `reads production ${NEW} by override`,
    'pause 10000',
    `reads production ${NEW}$`,
    ...STEPS.map((step) => `before production ${step}`),
  ])('at "%s" serves the old version to all', async (point) => {
    fake.fail(new RegExp(point));
    expect(await failing(PROMOTE)).toContain(`failed ${point}; production serves ${OLD}@100%`);
    expect(fake.served('production')).toBe(`${OLD}@100%`);
    expect(changes().at(-1)).toBe(BACK);
  });

  test.each([
    `after production ${AT_0}`,
    `reads production ${NEW} by override`,
    `after production ${AT_10}`,
    'pause 10000',
    `after production ${AT_100}`,
    'after production triggers',
  ])('because it is interrupted at "%s" serves the old version to all', async (point) => {
    fake.on(new RegExp(point), () => fake.interrupt());
    expect(await failing(PROMOTE)).toContain(`interrupted; production serves ${OLD}@100%`);
    expect(fake.served('production')).toBe(`${OLD}@100%`);
  });

  test('because its deployment is not listed goes back', async () => {
    const { deployments } = fake.environments.production;
    fake.on(new RegExp(`after production ${AT_0}`), () => deployments.pop());
    expect(await failing(PROMOTE)).toContain('its deployment is missing; production serves old');
  });

  test.each([UPLOAD, MIGRATE])('at "%s" deploys nothing', async (step) => {
    fake.fail(new RegExp(`after production ${step}`));
    expect(await failing(PROMOTE)).toContain('failed');
    expect(changes().at(-1)).toBe(step);
  });

  test.each(STEPS)(
    'after "%s" took effect goes on, and the last one names the settings',
    async (step) => {
      fake.fail(new RegExp(`after production ${step}`));
      const { code, stdout, stderr } = await fake.release(PROMOTE);
      expect(stdout).toContain(`production serves ${NEW} to all`);
      const fix = `. Run: npx wrangler ${AT_100} --env production\n`;
      expect([code, stderr.endsWith(fix)]).toEqual(step === AT_100 ? [1, true] : [0, false]);
      expect(fake.served('production')).toBe(`${NEW}@100%`);
    },
  );

  test('after its settings failed goes back, and does not name the new version', async () => {
    fake.fail(new RegExp(`after production ${AT_100}`));
    fake.fail(/before production triggers/);
    fake.on(/after .*list/, () => fake.fail(new RegExp(`^reads production ${NEW}$`)), 9);
    const { code, stderr } = await fake.release(PROMOTE);
    expect([code, stderr.includes('npx wrangler')]).toEqual([1, false]);
    expect(fake.served('production')).toBe(`${OLD}@100%`);
  });

  test('to set routes and crons says which command sets them', async () => {
    fake.fail(/before production triggers/);
    const { code, stderr } = await fake.release(PROMOTE);
    expect([code, fake.served('production')]).toEqual([1, `${NEW}@100%`]);
    expect(stderr).toContain('. Run: npx wrangler triggers deploy --env production\n');
  });

  test.each(STEPS)('at "%s", which takes effect late, goes back twice', async (step) => {
    fake.on(new RegExp(`before production ${step}`), () => {
      fake.on(/pause 15000/, () => fake.deploy('production', `${NEW}@100%`, 'mine', 'me'));
      throw new Error('timed out');
    });
    expect(await failing(PROMOTE)).toContain(`timed out; production serves ${OLD}@100%`);
    expect(fake.served('production')).toBe(`${OLD}@100%`);
    expect(changes().slice(-2)).toEqual([BACK, BACK]);
  });

  test.each(['before', 'after'])(
    'goes back again when its way back fails once (%s)',
    async (when) => {
      fake.fail(/pause 10000/);
      fake.fail(new RegExp(`${when} production rollback`));
      expect(await failing(PROMOTE)).toContain(`production serves ${OLD}@100%`);
      expect(fake.served('production')).toBe(`${OLD}@100%`);
    },
  );

  test.each([
    [/before production rollback/, 2],
    [/deployments list/, 9],
  ])('and cannot go back because of %s, ends with the command to run', async (call, times) => {
    fake.on(/pause 10000/, () => fake.fail(call, times));
    fake.fail(/pause 10000/);
    expect(await failing(PROMOTE)).toContain(
      `could not confirm that it went back. Run: ${BACK_COMMAND}`,
    );
    expect(fake.served('production')).toBe(HALF);
  });
});

describe('another operator wins', () => {
  test.each([UPLOAD, MIGRATE, ...STEPS, TRIGGERS])(
    'who deploys after "%s": nothing more is changed',
    async (step) => {
      fake.on(new RegExp(`after production ${step}`), rollBackByHand);
      expect(await failing(PROMOTE)).toContain(`berta deployed ${OTHER}@100%`);
      expect(changes().at(-1)).toBe(step);
    },
  );

  test.each([...STEPS, TRIGGERS])(
    'who deploys during the test after "%s": nothing more is changed',
    async (step) => {
      fake.on(new RegExp(`after production ${step}`), () => fake.on(/^reads/, rollBackByHand));
      expect(await failing(PROMOTE)).toContain(`berta deployed ${OTHER}@100%`);
      expect(changes().at(-1)).toBe(step);
    },
  );

  test.each([...STEPS.map((step) => `before production ${step}`), 'before production rollback'])(
    'who deploys right %s: the deployment is put back',
    async (point) => {
      fake.fail(new RegExp(`^reads production ${NEW}$`));
      fake.on(new RegExp(point), rollBackByHand);
      expect(await failing(PROMOTE)).toContain(`; production serves ${OTHER}@100%`);
      expect(changes().at(-1)).toBe(`rollback ${OTHER}`);
      expect(fake.served('production')).toBe(`${OTHER}@100%`);
    },
  );

  test('whose deployment cannot be put back gets the command', async () => {
    fake.on(/before .*@10%/, rollBackByHand);
    fake.fail(/before production rollback/, 2);
    const command = `Run: npx wrangler rollback ${OTHER} --env production`;
    expect(await failing(PROMOTE)).toContain(`could not confirm that it went back. ${command}`);
  });

  test('who promotes at the same time: the command that ends the state is printed', async () => {
    fake.on(/before .*@0%/, () => fake.deploy('production', `${OTHER}@0% ${OLD}@100%`));
    expect(await failing(PROMOTE)).toContain(
      `could not confirm that it went back. Run: ${BACK_COMMAND}`,
    );
    expect(changes().at(-1)).toBe(AT_0);
  });
});

describe('a rollback', () => {
  beforeEach(() => fake.deploy('production', HALF));

  test('serves the version, tests it, and reads later whether it is still served', async () => {
    const { code, stdout, stderr } = await fake.release(ROLLBACK);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/production serves old-+@100% and is tested.\n$/);
    expect(changes()).toEqual([BACK]);
    expect(fake.calls.slice(-3)).toEqual([
      `reads production ${OLD}`,
      'pause 15000',
      'production deployments list --json',
    ]);
  });

  test('without a key is not tested', async () => {
    const { code, stdout } = await fake.release(ROLLBACK, { apiKey: '' });
    expect([code, stdout]).toEqual([0, expect.stringContaining('not tested')]);
    expect(fake.calls.some((call) => call.startsWith('reads'))).toBe(false);
  });

  test.each<[string, () => void, string]>([
    ['fails its test', () => fake.fail(/^reads/), `${OLD}@100%. failed`],
    ['another release replaces', () => fake.on(/pause/, rollBackByHand), `${OTHER}@100%: another`],
    ['fails without effect', () => fake.fail(/before .* rollback/), `${HALF}. failed`],
    ['fails after it took effect', () => fake.fail(/after .* rollback/), `${OLD}@100%. failed`],
  ])('that %s says what is served', async (_, given, problem) => {
    given();
    expect(await failing(ROLLBACK)).toContain(`production serves ${problem}`);
  });

  test('to a version with another database is refused, unless forced', async () => {
    fake.environments.production.bindings.DB = 'x';
    expect(await failing(ROLLBACK)).toContain('"Move a store" in docs/operations.md');
    expect(await fake.release([...ROLLBACK, '--force'])).toMatchObject({ code: 0 });
    expect(changes()).toEqual([BACK]);
  });

  test('asks in production', async () => {
    expect(await failing(ROLLBACK.slice(0, -1), { answer: '\n' })).toBe('error: cancelled');
    expect(changes()).toEqual([]);
  });
});

test('a rollback that fails says so, also if the list cannot be read', async () => {
  fake.fail(/before production rollback/);
  fake.fail(/before production deployments list/, 9);
  expect(await failing(ROLLBACK)).toContain('failed before production rollback');
});

describe('undo', () => {
  const UNDO = ['undo', 'mine', '--env', 'production', '--yes'];

  test.each([`${NEW}@0% ${OLD}@100%`, HALF, `${NEW}@100%`])(
    'goes back from a run that was killed at %s',
    async (shares) => {
      fake.deploy('production', shares, 'mine');
      const { code, stdout } = await fake.release(UNDO);
      expect([code, stdout]).toEqual([0, expect.stringContaining(`serves ${OLD}@100%`)]);
      expect(fake.served('production')).toBe(`${OLD}@100%`);
    },
  );

  test('changes nothing if another operator has deployed since', async () => {
    fake.deploy('production', HALF, 'mine');
    fake.deploy('production', `${OTHER}@100%`);
    expect(await fake.release(UNDO)).toMatchObject({ code: 0 });
    expect(changes()).toEqual([]);
  });

  test('of a run that has deployed nothing says so', async () => {
    const { code, stdout } = await fake.release(UNDO);
    expect(code).toBe(0);
    expect(stdout).toContain('None of the ten newest deployments is of this run');
    expect(changes()).toEqual([]);
  });

  test('asks in production, and shows the deployments', async () => {
    fake.deploy('production', HALF, 'mine');
    expect(await failing(UNDO.slice(0, -1), { answer: '\n' })).toBe('error: cancelled');
    expect(fake.served('production')).toBe(HALF);
  });

  test('that fails twice fails', async () => {
    fake.deploy('production', `${NEW}@100%`, 'mine');
    fake.fail(/before production rollback/, 2);
    expect(await failing(UNDO)).toContain(BACK_COMMAND);
  });
});

test.each([
  ['promote', '--hold', '1.5'],
  ['promote', '--hold', '-1'],
  ['rollback', 'x'],
  ['rollback', '--env', 'local'],
  ['staging', '--hold', '0'],
])('%j %j %j is refused with the exit code 2', async (...args) => {
  const { code, stderr } = await fake.release(args);
  expect([code, stderr.trimEnd().split('\n')]).toEqual([2, [expect.stringMatching(/^error: /)]]);
  expect(fake.calls).toEqual([]);
});
