import { defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

/** Whole releases, at a fake of Cloudflare: `npm run test:release`. */
export default defineConfig({
  test: {
    ...config.test,
    include: ['test/**/*.release.ts'],
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
});
