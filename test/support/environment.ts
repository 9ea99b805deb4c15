/** Node.js, and the server that the test files of a process share. Vitest waits for the teardown, which closes it. */
import type { Environment } from 'vitest/runtime';
import type {} from './server.ts';

export default {
  name: 'shared-server',
  viteEnvironment: 'ssr',
  setup: () => ({
    async teardown() {
      await (await globalThis.sharedServer)?.harness.close();
    },
  }),
} satisfies Environment;
