import { expect, test } from 'vitest';
import type { Deployment, Version } from '../../../ops/release/cloudflare.ts';
import { isFirst } from '../../../ops/release/first-promotion.ts';
import {
  formatIdentity,
  type Identity,
  parseIdentity,
  sameBytes,
  sameRelease,
} from '../../../ops/release/identity.ts';
import { servesAll, stableVersion } from '../../../ops/release/rollout.ts';

const deployment = (...shares: [string, number][]): Deployment => ({
  createdOn: '',
  step: true,
  settled: undefined,
  shares: shares.map(([version, percentage]) => ({ version, percentage })),
});
const settled = (version: string): Deployment => ({
  ...deployment([version, 100]),
  step: false,
  settled: 'promoted',
});
const byHand = (...shares: [string, number][]): Deployment => ({
  ...deployment(...shares),
  step: false,
});

const IDENTITY: Identity = {
  commit: 'c'.repeat(40),
  'index.js': '1'.repeat(64),
  assets: '2'.repeat(64),
  migrations: '3'.repeat(64),
  config: '4'.repeat(64),
  bookmark: '00000085-0000024c-00004c6d-8e61117bf38d7adb71b934ebbf891683',
};
const versions = ['a', 'b', 'c'].map((id): Version => ({ id, createdOn: '', identity: IDENTITY }));
const unknown = versions.map((version): Version => ({ ...version, identity: undefined }));

test.each<[string, Deployment[], Version[], string | undefined]>([
  ['nothing is deployed', [], [], undefined],
  ['one is settled on', [settled('a')], versions, 'a'],
  ['another is at 10 %', [settled('a'), deployment(['b', 10], ['a', 90])], versions, 'a'],
  ['another is at 100 %, unproved', [settled('a'), deployment(['b', 100])], versions, 'a'],
  ['another was settled on since', [settled('a'), settled('b')], versions, 'b'],
  ['it was returned to', [settled('a'), settled('b'), settled('a')], versions, 'a'],
  [
    'an operator went back by other means',
    [settled('a'), settled('b'), byHand(['a', 100])],
    versions,
    'a',
  ],
  ['ours was deployed since, unproved', [settled('a'), byHand(['b', 100])], versions, 'a'],
  ['ours was never proved', [byHand(['a', 100])], versions, undefined],
  ['it was deployed by hand', [byHand(['a', 100])], unknown, 'a'],
  ['two share by hand', [byHand(['a', 50], ['b', 50])], unknown, undefined],
])('the version to return to, when %s', (_, deployments, versions, stable) =>
  expect(stableVersion({ deployments, versions })).toBe(stable),
);

test.each<[string, Deployment[], Version[], boolean]>([
  ['nothing is deployed', [], [], true],
  ['a first promotion was cut short', [byHand(['a', 100])], versions, true],
  ['two were', [byHand(['a', 100]), byHand(['b', 100])], versions, true],
  ['one is settled on', [byHand(['a', 100]), settled('a')], versions, false],
  ['another is at 100 %, unproved', [settled('a'), deployment(['b', 100])], versions, false],
  ['it was deployed by hand', [byHand(['a', 100])], unknown, false],
])('whether it is the first promotion, when %s', (_, deployments, versions, first) =>
  expect(isFirst({ deployments, versions })).toBe(first),
);

test('a version serves all when it is deployed alone', () => {
  expect(servesAll(deployment(['a', 100]))).toBe('a');
  expect(servesAll(deployment(['b', 0], ['a', 100]))).toBeUndefined();
  expect(servesAll(undefined)).toBeUndefined();
});

test('a release is read back from its version’s message, which Cloudflare takes', () => {
  const message = formatIdentity(IDENTITY);
  expect(Buffer.byteLength(message)).toBeLessThanOrEqual(1000);
  expect(parseIdentity(message)).toEqual(IDENTITY);
  for (const other of [undefined, '', 'Uploaded by hand', 'commit=1 index.js=2']) {
    expect(parseIdentity(other)).toBeUndefined();
  }
});

test('the same bytes with another configuration are not the same release', () => {
  const other = { ...IDENTITY, config: '5'.repeat(64), bookmark: 'later' };
  expect([sameBytes(IDENTITY, other), sameRelease(IDENTITY, other)]).toEqual([true, false]);
  for (const name of ['commit', 'index.js', 'assets', 'migrations'] as const) {
    expect(sameBytes(IDENTITY, { ...IDENTITY, [name]: 'other' })).toBe(false);
  }
  expect(sameBytes(undefined, undefined)).toBe(false);
});
