import { defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

/** The tests that need a browser: `npm run test:browser`. */
export default defineConfig({
  // The page unfolds ten operations, which takes a browser on a busy machine a while.
  test: { ...config.test, include: ['test/**/*.browser.ts'], testTimeout: 90_000 },
});
