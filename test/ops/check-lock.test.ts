import { expect, test } from 'vitest';
import { lockedPackages, missingOptional } from '../../ops/check-lock.ts';
import packageJson from '../../package.json' with { type: 'json' };

const tool = { version: '2.0.0', optionalDependencies: { '@tool/mac': '2.0.0' } };

test('the lock file of this project has an entry for the packages of every platform', () => {
  expect(missingOptional(lockedPackages())).toEqual([]);
});

test('the lock file of this project has its version', () => {
  expect(lockedPackages()['']?.version).toBe(packageJson.version);
});

test('names an optional dependency without an entry', () => {
  expect(missingOptional({ 'node_modules/tool': tool })).toEqual([
    '@tool/mac@2.0.0, of node_modules/tool',
  ]);
});

test('names an optional dependency whose entry has another version', () => {
  const packages = { 'node_modules/tool': tool, 'node_modules/@tool/mac': { version: '1.0.0' } };
  expect(missingOptional(packages)).toEqual(['@tool/mac@2.0.0, of node_modules/tool']);
});

test.each([
  ['node_modules/@tool/mac'],
  ['node_modules/user/node_modules/@tool/mac'],
  ['node_modules/user/node_modules/tool/node_modules/@tool/mac'],
])('finds the entry of a nested package at %s', (path) => {
  const packages = { 'node_modules/user/node_modules/tool': tool, [path]: { version: '2.0.0' } };
  expect(missingOptional(packages)).toEqual([]);
});

test('finds the entry of a workspace at the root', () => {
  const packages = { client: tool, 'node_modules/@tool/mac': { version: '2.0.0' } };
  expect(missingOptional(packages)).toEqual([]);
});

test('ignores an entry that only another package can resolve', () => {
  const packages = {
    'node_modules/tool': tool,
    'node_modules/other/node_modules/@tool/mac': { version: '2.0.0' },
  };
  expect(missingOptional(packages)).toEqual(['@tool/mac@2.0.0, of node_modules/tool']);
});
