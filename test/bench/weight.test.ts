import { expect, test } from 'vitest';
import { packageOf } from '../../bench/weight.ts';

test.each([
  ['node_modules/hono/dist/hono.js', 'hono'],
  ['node_modules/@hono/zod-validator/dist/index.mjs', '@hono/zod-validator'],
  ['../../node_modules/a/node_modules/b/index.js', 'b'],
  ['src/pets/routes.ts', 'src'],
  ['<define:process>', 'the bundler'],
])('%s belongs to %s', (path, name) => {
  expect(packageOf(path)).toBe(name);
});
