import { defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

/** The tests that need a browser: `npm run test:browser`. */
export default defineConfig({ test: { ...config.test, include: ['test/**/*.browser.ts'] } });
