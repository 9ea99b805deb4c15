import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { checkSize, MAX_BUNDLE_KIB } from '../../ops/check-bundle.ts';

// gzip adds 23 bytes to random bytes.
test('a bundle of the maximum size passes', () => {
  expect(checkSize(randomBytes(MAX_BUNDLE_KIB * 1024 - 30))).toBe(MAX_BUNDLE_KIB.toFixed(1));
});

test('the error of a larger bundle names the limit and the fix', () => {
  const larger = randomBytes((MAX_BUNDLE_KIB + 1) * 1024);
  expect(() => checkSize(larger)).toThrow(`more than the maximum of ${MAX_BUNDLE_KIB} (`);
  expect(() => checkSize(larger)).toThrow(
    /\(MAX_BUNDLE_KIB in ops\/check-bundle\.ts\)\. .*raise the maximum/,
  );
});
