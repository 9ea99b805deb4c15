import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { checkSize, MAX_BUNDLE_KIB } from '../../ops/check-bundle.ts';

/** A bundle of about this size after gzip, and of twice that before. */
const bundle = (kib: number) =>
  Buffer.concat([randomBytes(kib * 1024 - 200), Buffer.alloc(kib * 1024)]);

test('the error of a bundle beyond the maximum size names the limit and the fix', () => {
  expect(checkSize(bundle(MAX_BUNDLE_KIB))).toMatch(/^\d+\.\d$/);
  expect(() => checkSize(bundle(MAX_BUNDLE_KIB + 1))).toThrow(
    /more than the maximum of \d+ \(MAX_BUNDLE_KIB in ops\/check-bundle\.ts\)\. .*raise the maximum/,
  );
});
