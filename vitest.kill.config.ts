import { defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

/** Real processes, killed and started again: `npm run test:kill`. */
export default defineConfig({ test: { ...config.test, include: ['test/**/*.kill.ts'] } });
