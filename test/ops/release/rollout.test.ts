import { expect, test } from 'vitest';
import type { Deployment, Version } from '../../../ops/release/cloudflare.ts';
import {
  formatIdentity,
  type Identity,
  parseIdentity,
  sameBytes,
  sameRelease,
} from '../../../ops/release/identity.ts';
import { oldVersion, servesAll } from '../../../ops/release/rollout.ts';

const deployment = (...shares: [string, number][]): Deployment => ({
  createdOn: '',
  message: undefined,
  shares: shares.map(([version, percentage]) => ({ version, percentage })),
});
const versions = ['a', 'b', 'c'].map((id): Version => ({ id, createdOn: '', identity: undefined }));

test.each<[string, Deployment[], string | undefined, string | undefined]>([
  ['nothing is deployed', [], undefined, undefined],
  ['nothing but ours', [deployment(['b', 100])], 'b', undefined],
  ['one is', [deployment(['a', 100])], undefined, 'a'],
  ['ours is at 0 %', [deployment(['b', 0], ['a', 100])], 'b', 'a'],
  ['ours is at 10 %', [deployment(['b', 10], ['a', 90])], 'b', 'a'],
  ['ours is at 50 %', [deployment(['b', 50], ['a', 50])], 'b', 'a'],
  ['ours is at 100 %', [deployment(['b', 50], ['a', 50]), deployment(['b', 100])], 'b', 'a'],
  ['another promotion was cut short', [deployment(['b', 10], ['a', 90])], 'c', 'a'],
  ['another was cut short at 50 %', [deployment(['b', 50], ['a', 50])], 'c', 'a'],
  ['another came through', [deployment(['a', 100]), deployment(['b', 100])], 'c', 'b'],
])('the old version, when %s', (_, deployments, ours, old) =>
  expect(oldVersion(deployments, versions, ours)).toBe(old),
);

test('a version serves all when it is deployed alone', () => {
  expect(servesAll(deployment(['a', 100]))).toBe('a');
  expect(servesAll(deployment(['b', 0], ['a', 100]))).toBeUndefined();
  expect(servesAll(undefined)).toBeUndefined();
});

const IDENTITY: Identity = {
  commit: 'c'.repeat(40),
  'index.js': '1'.repeat(64),
  assets: '2'.repeat(64),
  migrations: '3'.repeat(64),
  config: '4'.repeat(64),
  bookmark: '00000085-0000024c-00004c6d-8e61117bf38d7adb71b934ebbf891683',
  routes: 'none',
};

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
