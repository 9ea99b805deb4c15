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

/** Of other releases, of another tool, and the placeholder. The release to roll out is `new`. */
const VERSIONS = [
  version('empty', 'placeholder'),
  version('old', 'commit=o digest=o bookmark=b'),
  version('other', 'commit=p digest=p bookmark=b'),
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

const step = (shares: string) => deploymentOf(sharesOf(shares), 'release: … % return=old');
const settled = (id: string) => deploymentOf(sharesOf(`${id} 100`), 'settled release: promoted');
const byHand = (shares: string) => deploymentOf(sharesOf(shares), '');
/** As version 1.0.0 of the tool noted it. */
const step1 = (shares: string) => deploymentOf(sharesOf(shares), 'release: 10 %');

function deploys(shares: string, message: string): Step {
  return { do: 'deploy', shares: sharesOf(shares), message };
}
const to0 = deploys('new 0, old 100', 'release: 0 % return=old');
const to10 = deploys('new 10, old 90', 'release: 10 % return=old');
const to50 = deploys('new 50, old 50', 'release: 50 % return=old');
const to100 = deploys('new 100', 'release: 100 % return=old');
const prepares: Step = { do: 'prepare' };
const proves = (percentage: number): Step => ({ do: 'prove', version: 'new', percentage });
const settles = deploys('new 100', 'settled release: promoted');
function refuses(because: string) {
  return { do: 'refuse', because: expect.stringContaining(because) };
}

const first = deploys('new 0, empty 100', 'release: 0 % return=empty');
const at0 = step('new 0, old 100');
const at10 = step('new 10, old 90');
const at50 = step('new 50, old 50');
const at100 = step('new 100');
const other = step('other 10, old 90');
const toNew = deploymentOf(sharesOf('other 10, new 90'), 'release: 10 % return=new');

const BEGUN: Run = {};
const PREPARED: Run = { version: 'new' };
const proved = (percentage: number): Run => ({ version: 'new', proved: percentage });
/** Of twelve deployments Cloudflare lists ten. */
const twelve = <T>(deployment: T) => Array<T>(12).fill(deployment).slice(-10);
const unsettled1 = (last: string) => [...twelve(step1('new 10, old 90')).slice(1), step1(last)];

test.each<[string, Deployment[], Run, unknown]>([
  ['no worker', [], BEGUN, { do: 'create worker' }],
  ['killed after the worker was created', [byHand('empty 100')], BEGUN, prepares],
  ['the first release is prepared', [byHand('empty 100')], PREPARED, first],
  ['another release is settled', [settled('old')], BEGUN, prepares],
  ['killed after the upload, or the migrations', [settled('old')], BEGUN, prepares],
  ['prepared', [settled('old')], PREPARED, to0],
  ['killed at 0 %', [at0], BEGUN, prepares],
  ['resumed at 0 %', [at0], PREPARED, proves(0)],
  ['proved at 0 %', [at0], proved(0), to10],
  ['deployed at 10 %', [at10], proved(0), proves(10)],
  ['resumed at 10 %', [at10], PREPARED, proves(10)],
  ['proved at 10 %', [at10], proved(10), to50],
  ['resumed at 50 %', [at50], PREPARED, proves(50)],
  ['proved at 50 %', [at50], proved(50), to100],
  ['settled, by hand, then proved', [settled('other'), byHand('old 100'), at50], proved(50), to100],
  ['killed at 100 %', [at100], BEGUN, prepares],
  ['resumed at 100 %', [at100], PREPARED, proves(100)],
  ['proved at 100 %', [at100], proved(100), settles],
  ['settled', [settled('new')], proved(100), { do: 'finish' }],
  ['settled by an earlier run', [settled('new')], BEGUN, prepares],
  ['settled by an earlier run, prepared', [settled('new')], PREPARED, proves(100)],
  ['returned from this release before', [at50, settled('old')], PREPARED, to0],
  ['deployed by hand', [byHand('foreign 100')], BEGUN, prepares],
  ['deployed by hand, prepared', [settled('other'), byHand('old 100')], PREPARED, to0],
  ['an operator returned by hand', [at10, byHand('old 100')], PREPARED, to0],
  ['this release, deployed by hand', [settled('old'), byHand('new 100')], proved(100), settles],
  ['shared by hand', [byHand('old 50, foreign 50')], BEGUN, refuses('no version to return to')],
  ['another release is unfinished', [settled('old'), other], BEGUN, refuses('--unfinished')],
  ['another release that returns to this one', [toNew], BEGUN, refuses('--unfinished')],
  ['twelve steps', twelve(at10), PREPARED, proves(10)],
  ['twelve steps, proved', twelve(at50), proved(50), to100],
  ['twelve steps of another release', twelve(other), BEGUN, refuses('rollback --unfinished')],
  ['twelve by hand', twelve(byHand('old 100')), PREPARED, to0],
  [
    '1.0.0: a step of this release',
    [settled('old'), step1('new 50, old 50')],
    PREPARED,
    proves(50),
  ],
  ['1.0.0: proved at 100 %', [settled('old'), step1('new 100')], proved(100), settles],
  ['1.0.0: twelve steps, most requests to one', unsettled1('new 50, old 50'), proved(50), to100],
  [
    '1.0.0: twelve steps at 100 %',
    twelve(step1('new 100')),
    BEGUN,
    refuses('no version to return'),
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
