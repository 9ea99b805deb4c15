import { defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

/** The client in Node.js 20, 22 and 24, Bun and Deno, which are installed for it: `npm run test:client`. */
export default defineConfig({ test: { ...config.test, include: ['test/client/runtimes.ts'] } });
