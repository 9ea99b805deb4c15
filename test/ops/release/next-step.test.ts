/** The next step of a release, from every state that Cloudflare can be found in. */
import { expect, test } from 'vitest';
import { Deployment, deploymentOf, Version } from '../../../ops/release/cloudflare.ts';
import { nextStep, type Plan, type Run, type Step } from '../../../ops/release/next-step.ts';

const PLAN: Plan = {
  release: { commit: 'n', digest: 'n' },
  percentages: [0, 10, 50, 100],
  endsOthers: false,
};

function version(id: string, message: string) {
  const metadata = { created_on: '2026-11-20T00:00:00Z' };
  return Version.parse({ id, metadata, annotations: { 'workers/message': message } });
}

const MESSAGE_1 = 'commit=c index.js=i assets=a migrations=m config=f bookmark=b';

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

/** A step of this run, or of another one. */
const step = (shares: string, run = '1') =>
  deploymentOf(sharesOf(shares), `release: … % return=old run=${run}`);
const killed = (shares: string) => step(shares, '0');
const settled = (id: string, how = 'tested run=0') =>
  deploymentOf(sharesOf(`${id} 100`), `settled release: ${how}`);
const byHand = (shares: string) => deploymentOf(sharesOf(shares), '');
/** As version 1.0.0 of the tool noted it. */
const step1 = (shares: string) => deploymentOf(sharesOf(shares), 'release: 10 %');
const [step10, step50] = [step1('new 10, old 90'), step1('new 50, old 50')];
const upload1 = deploymentOf(sharesOf('other 100'), MESSAGE_1);
const unrouted1 = deploymentOf(sharesOf('old 100'), 'settled release: tested without a route');

function deploys(shares: string, message: string): Step {
  return { do: 'deploy', shares: sharesOf(shares), message };
}
const to0 = deploys('new 0, old 100', 'release: 0 % return=old run=1');
const to10 = deploys('new 10, old 90', 'release: 10 % return=old run=1');
const to50 = deploys('new 50, old 50', 'release: 50 % return=old run=1');
const to100 = deploys('new 100', 'release: 100 % return=old run=1');
const creates: Step = { do: 'create worker' };
const prepares: Step = { do: 'prepare' };
const uploads: Step = { do: 'upload' };
const migrates: Step = { do: 'migrate' };
const attaches: Step = { do: 'attach' };
const tests = (percentage: number): Step => ({ do: 'test', version: 'new', percentage });
const settles = deploys('new 100', 'settled release: tested run=1');
const finishes: Step = { do: 'finish', version: 'new' };
function refuses(because: string) {
  return { do: 'refuse', because: expect.stringContaining(because) };
}

const [unknown, unfinished] = [refuses('no version to return to'), refuses('--unfinished')];
const [empty, mine] = [byHand('empty 100'), byHand('old 100')];
const first = deploys('new 0, empty 100', 'release: 0 % return=empty run=1');
const other = step('other 10, old 90');
const toNew = deploymentOf(sharesOf('other 10, new 90'), 'release: 10 % return=new');

const BEGUN: Run = { id: '1' };
const PENDING: Run = { id: '1', pending: ['0001.sql'] };
const PREPARED: Run = { id: '1', pending: [] };
const tested = (percentage: number): Run => ({ ...PREPARED, tested: percentage });
const ATTACHED: Run = { ...tested(100), attached: true };
/** Of twelve deployments Cloudflare lists ten. */
const twelve = <T>(deployment: T) => Array<T>(12).fill(deployment).slice(-10);

test.each<[string, Deployment[], Run, unknown]>([
  ['killed after the worker was created', [empty], BEGUN, prepares],
  ['the first release gets the address of its tests', [empty], PREPARED, attaches],
  ['the first release has an address', [empty], { ...PREPARED, attached: true }, first],
  ['another release is settled', [settled('old')], BEGUN, prepares],
  ['killed after the upload', [settled('old')], PENDING, migrates],
  ['prepared', [settled('old')], PREPARED, to0],
  ['killed at 0 %', [killed('new 0, old 100')], BEGUN, prepares],
  ['resumed at 0 %', [killed('new 0, old 100')], PREPARED, to0],
  ['deployed at 0 %', [step('new 0, old 100')], PREPARED, tests(0)],
  ['tested at 0 %', [step('new 0, old 100')], tested(0), to10],
  ['resumed at 10 %, as its own', [killed('new 10, old 90')], PREPARED, to10],
  ['deployed at 10 %', [step('new 10, old 90')], tested(0), tests(10)],
  ['tested at 10 %', [step('new 10, old 90')], tested(10), to50],
  ['resumed at 50 %', [killed('new 50, old 50')], PREPARED, to50],
  ['tested at 50 %', [step('new 50, old 50')], tested(50), to100],
  ['tested over one by hand', [mine, step('new 50, old 50')], tested(50), to100],
  ['killed at 100 %', [killed('new 100')], BEGUN, prepares],
  ['resumed at 100 %', [killed('new 100')], PREPARED, to100],
  ['deployed at 100 %', [step('new 100')], PREPARED, tests(100)],
  ['tested at 100 %: only now it gets its routes', [step('new 100')], tested(100), attaches],
  ['its routes are attached', [step('new 100')], ATTACHED, settles],
  ['settled', [settled('new')], ATTACHED, finishes],
  ['rolled back to, untested', [settled('old'), settled('new', 'rolled back')], ATTACHED, settles],
  [
    'rolled back to, tested before',
    [settled('new'), settled('new', 'returned')],
    ATTACHED,
    finishes,
  ],
  ['settled by an earlier run', [settled('new')], BEGUN, prepares],
  ['settled by an earlier run, prepared', [settled('new')], PREPARED, tests(100)],
  ['returned from this release before', [step('new 50, old 50'), settled('old')], PREPARED, to0],
  ['deployed by hand', [byHand('foreign 100')], BEGUN, prepares],
  ['deployed by hand, prepared', [settled('other'), mine], PREPARED, to0],
  ['an operator returned by hand', [step('new 10, old 90'), mine], PREPARED, to0],
  ['this release, deployed by hand', [settled('old'), byHand('new 100')], ATTACHED, settles],
  ['shared by hand', [byHand('old 50, foreign 50')], BEGUN, unknown],
  ['another release is unfinished', [settled('old'), other], BEGUN, unfinished],
  ['another release that returns to this one', [toNew], BEGUN, unfinished],
  ['twelve steps', twelve(step('new 10, old 90')), PREPARED, tests(10)],
  ['twelve steps, tested', twelve(step('new 50, old 50')), tested(50), to100],
  ['twelve steps of another release', twelve(other), BEGUN, unfinished],
  ['twelve by hand', twelve(mine), PREPARED, to0],
  ['1.0.0: a step', [settled('old'), step1('new 50, old 50')], PREPARED, to50],
  ['1.0.0: a step after one by hand', [settled('other'), mine, step50], PREPARED, to50],
  ['1.0.0: twelve steps, most to one', [...twelve(step10).slice(1), step50], PREPARED, to50],
  ['1.0.0: twelve steps at 100 %', twelve(step1('new 100')), BEGUN, unknown],
  ['1.0.0: its first one was killed', [mine], BEGUN, creates],
  ['1.0.0: killed twice', [mine, upload1], BEGUN, creates],
  ['1.0.0: an operator deployed since', [upload1, mine], PREPARED, to0],
  ['1.0.0: untested after a settled one', [settled('old'), upload1], BEGUN, unfinished],
  ['1.0.0: twelve untested', twelve(upload1), BEGUN, unknown],
  ['1.0.0: tested at workers.dev', [mine, unrouted1], PREPARED, attaches],
  ['1.0.0: promoted since', [unrouted1, settled('old')], PREPARED, to0],
])('%s', (_, deployments, run, expected) => {
  expect(nextStep({ deployments, versions: VERSIONS }, PLAN, run)).toEqual(expected);
});

test('a worker is created where there is none, and not over versions of which no deployment is listed', () => {
  expect(nextStep({ deployments: [], versions: [] }, PLAN, BEGUN)).toEqual(creates);
  const deployed = { deployments: [], versions: VERSIONS };
  expect(nextStep(deployed, PLAN, BEGUN)).toEqual(refuses('but no deployment'));
});

test('a version is uploaded when it is prepared, and not before', () => {
  const deployed = { deployments: [settled('old')], versions: VERSIONS.slice(0, -1) };
  expect(nextStep(deployed, PLAN, BEGUN)).toEqual(prepares);
  expect(nextStep(deployed, PLAN, PENDING)).toEqual(uploads);
});

test('staging ends the unfinished release of another commit', () => {
  const deployed = { deployments: [step('other 0, old 100')], versions: VERSIONS };
  const plan: Plan = { ...PLAN, percentages: [0, 100], endsOthers: true };
  expect(nextStep(deployed, plan, BEGUN)).toEqual(deploys('old 100', 'settled release: returned'));
});

test('the messages of version 1.0.0 name the same release, whose bytes are known', () => {
  const release = { commit: 'c', digest: 'i', bookmark: 'b' };
  expect(version('a', MESSAGE_1).release).toEqual(release);
  const annotations = { 'workers/message': 'settled release: promoted bookmark=b' };
  const versions = [{ version_id: 'a', percentage: 100 }];
  expect(Deployment.parse({ versions, annotations })).toMatchObject({ isSettled: true });
  expect(Deployment.parse({ versions })).toMatchObject({ isSettled: false, isStep: false });
});
