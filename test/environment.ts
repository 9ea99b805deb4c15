/** Node.js, and the servers that the test files of a process share. Vitest waits for the teardown, which closes them. */
import type { Environment } from 'vitest/runtime';

declare global {
  /** The servers, with and without faults: see server.ts. */
  var sharedServers: Map<string, Promise<{ harness: { close(): Promise<void> } }>> | undefined;
}

export default {
  name: 'shared-servers',
  viteEnvironment: 'ssr',
  setup: () => ({
    async teardown() {
      const servers = await Promise.all(globalThis.sharedServers?.values() ?? []);
      await Promise.all(servers.map(({ harness }) => harness.close()));
    },
  }),
} satisfies Environment;
