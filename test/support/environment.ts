/** Node.js, and the server that the test files of a process share. Vitest waits for the teardown, which closes it. */
import type { Environment } from 'vitest/runtime';
// For the type of globalThis.sharedServer.
import type {} from './server.ts';

export default {
  name: 'shared-server',
  viteEnvironment: 'ssr',
  setup: () => ({
    async teardown() {
      const server = await globalThis.sharedServer;
      await server?.harness.close();
    },
  }),
} satisfies Environment;
