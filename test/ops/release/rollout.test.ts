/** The next step of a release, from every state that Cloudflare can be found in. */
import { expect, test } from 'vitest';
import { Deployment, deploymentOf, Version } from '../../../ops/release/cloudflare.ts';
import { digestOf } from '../../../ops/release/dist.ts';
import { nextStep, type Plan, type Run, type Step } from '../../../ops/release/next-step.ts';

const PLAN: Plan = {
  release: { commit: 'n', digest: 'n' },
  percentages: [0, 10, 50, 100],
  settledAs: 'promoted',
  endsOthers: false,
};

function version(id: string, message: string) {
  const metadata = { created_on: '2026-11-20T00:00:00Z' };
  return Version.parse({ id, metadata, annotations: { 'workers/message': message } });
}

const ofRelease = (id: string) => version(id, `commit=${id} digest=${id} bookmark=b`);

/** Of other releases, of another tool, and the placeholder. The release to roll out is `new`. */
const VERSIONS = [
  version('empty', 'placeholder'),
  ofRelease('old'),
  ofRelease('other'),
  version('foreign', 'Uploaded by hand'),
  version('new', 'commit=n digest=n bookmark=b'),
];

/** Such as `new 10, old 90`. */
function sharesOf(text: string) {
  return text.split(', ').map((share) => {
    const [id = '', percentage] = share.split(' ');
    return { version: id, percentage: Number(percentage) };
  });
}

const step = (shares: string, returnTo = 'old') =>
  deploymentOf(sharesOf(shares), `release: … % return=${returnTo}`);
const settled = (id: string) => deploymentOf(sharesOf(`${id} 100`), 'settled release: promoted');
const byHand = (shares: string) => deploymentOf(sharesOf(shares), '');
/** As version 1.0.0 of the tool noted it. */
const step1 = (shares: string) => deploymentOf(sharesOf(shares), 'release: 10 %');

const deploys = (shares: string, message: string): Step => ({
  do: 'deploy',
  shares: sharesOf(shares),
  message,
});
const starts = deploys('new 0, old 100', 'release: 0 % return=old');
const proves = (percentage: number): Step => ({ do: 'prove', version: 'new', percentage });
const settles = deploys('new 100', 'settled release: promoted');
const refuses = (because: string) => ({
  do: 'refuse',
  because: expect.stringContaining(because),
});

const BEGUN: Run = {};
const PREPARED: Run = { version: 'new' };
const proved = (percentage: number): Run => ({ version: 'new', proved: percentage });
const twelve = <T>(deployment: T) => Array<T>(12).fill(deployment).slice(-10);

test.each<[string, Deployment[], Run, unknown]>([
  ['no worker', [], BEGUN, { do: 'create worker' }],
  ['killed after the worker was created', [byHand('empty 100')], BEGUN, { do: 'prepare' }],
  [
    'the first release is prepared',
    [byHand('empty 100')],
    PREPARED,
    deploys('new 0, empty 100', 'release: 0 % return=empty'),
  ],
  ['another release is settled', [settled('old')], BEGUN, { do: 'prepare' }],
  ['killed after the upload, or the migrations', [settled('old')], BEGUN, { do: 'prepare' }],
  ['prepared', [settled('old')], PREPARED, starts],
  ['killed at 0 %', [step('new 0, old 100')], BEGUN, { do: 'prepare' }],
  ['resumed at 0 %', [step('new 0, old 100')], PREPARED, proves(0)],
  [
    'proved at 0 %',
    [step('new 0, old 100')],
    proved(0),
    deploys('new 10, old 90', 'release: 10 % return=old'),
  ],
  ['deployed at 10 %', [step('new 10, old 90')], proved(0), proves(10)],
  ['resumed at 10 %', [step('new 10, old 90')], PREPARED, proves(10)],
  [
    'proved at 10 %',
    [step('new 10, old 90')],
    proved(10),
    deploys('new 50, old 50', 'release: 50 % return=old'),
  ],
  ['resumed at 50 %', [step('new 50, old 50')], PREPARED, proves(50)],
  [
    'proved at 50 %',
    [step('new 50, old 50')],
    proved(50),
    deploys('new 100', 'release: 100 % return=old'),
  ],
  [
    'proved at 50 %, and another release was settled before',
    [settled('other'), byHand('old 100'), step('new 50, old 50')],
    proved(50),
    deploys('new 100', 'release: 100 % return=old'),
  ],
  ['killed at 100 %', [step('new 100')], BEGUN, { do: 'prepare' }],
  ['resumed at 100 %', [step('new 100')], PREPARED, proves(100)],
  ['proved at 100 %', [step('new 100')], proved(100), settles],
  ['settled', [settled('new')], proved(100), { do: 'finish' }],
  ['settled by an earlier run', [settled('new')], BEGUN, { do: 'prepare' }],
  ['settled by an earlier run, prepared', [settled('new')], PREPARED, proves(100)],
  ['returned from this release before', [step('new 50, old 50'), settled('old')], PREPARED, starts],
  ['deployed by hand', [byHand('foreign 100')], BEGUN, { do: 'prepare' }],
  [
    'deployed by hand, prepared',
    [settled('old'), byHand('foreign 100')],
    PREPARED,
    deploys('new 0, foreign 100', 'release: 0 % return=foreign'),
  ],
  ['an operator returned by hand', [step('new 10, old 90'), byHand('old 100')], PREPARED, starts],
  ['this release, deployed by hand', [settled('old'), byHand('new 100')], proved(100), settles],
  ['shared by hand', [byHand('old 50, foreign 50')], BEGUN, refuses('no version to return to')],
  [
    'another release is unfinished',
    [settled('old'), step('other 10, old 90')],
    BEGUN,
    refuses('rollback --unfinished'),
  ],
  ['twelve steps', twelve(step('new 10, old 90')), PREPARED, proves(10)],
  [
    'twelve steps of another release',
    twelve(step('other 100')),
    BEGUN,
    refuses('rollback --unfinished'),
  ],
  ['twelve by hand', twelve(byHand('old 100')), PREPARED, starts],
  [
    '1.0.0: a first release was killed, without a route',
    [byHand('old 100')],
    BEGUN,
    { do: 'create worker' },
  ],
  [
    '1.0.0: a step of this release',
    [settled('old'), step1('new 50, old 50')],
    PREPARED,
    proves(50),
  ],
  ['1.0.0: it is proved at 100 %', [settled('old'), step1('new 100')], proved(100), settles],
  [
    '1.0.0: twelve steps, the version to return to has most requests',
    [...twelve(step1('new 10, old 90')).slice(1), step1('new 50, old 50')],
    proved(50),
    deploys('new 100', 'release: 100 % return=old'),
  ],
  [
    '1.0.0: twelve steps, the version to return to is unknown',
    twelve(step1('new 100')),
    BEGUN,
    refuses('no version to return to'),
  ],
])('%s', (_, deployments, run, expected) => {
  expect(nextStep({ deployments, versions: VERSIONS }, PLAN, run)).toEqual(expected);
});

test('staging ends the unfinished release of another commit', () => {
  const deployed = { deployments: [step('other 0, old 100')], versions: VERSIONS };
  const plan: Plan = { ...PLAN, percentages: [0, 100], endsOthers: true };
  expect(nextStep(deployed, plan, {})).toEqual(deploys('old 100', 'settled release: returned'));
});

test('the messages of version 1.0.0 name the same release, whose bytes are known', () => {
  const { release } = version('a', 'commit=c index.js=i assets=a migrations=m config=f bookmark=b');
  expect(release).toEqual({ commit: 'c', digest: digestOf('i', 'a'), bookmark: 'b' });
  const annotations = { 'workers/message': 'settled release: promoted bookmark=b' };
  const versions = [{ version_id: 'a', percentage: 100 }];
  expect(Deployment.parse({ versions, annotations })).toMatchObject({ isSettled: true });
  expect(Deployment.parse({ versions })).toMatchObject({ isSettled: false, isStep: false });
});
