/**
 * Node.js, and the servers that the test files of a process share. Vitest waits for the teardown,
 * which closes them.
 */
import type { Environment } from 'vitest/runtime';
// For the type of globalThis.sharedServers.
import type {} from './server.ts';

export default {
  name: 'shared-servers',
  viteEnvironment: 'ssr',
  setup: () => ({
    async teardown() {
      for (const server of Object.values(globalThis.sharedServers ?? {}))
        await server.then(
          ({ harness }) => harness.close(),
          () => {},
        );
    },
  }),
} satisfies Environment;
