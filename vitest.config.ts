import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';

// A hook of git exports GIT_DIR, for example, which git prefers to the current folder: tests in a
// hook would change the developer's repository, in place of their own.
const names = execFileSync('git', ['rev-parse', '--local-env-vars'], { encoding: 'utf8' });
for (const name of names.split('\n')) delete process.env[name];

/** The test files of each script of package.json that runs tests, wherever they lie. */
const PROJECTS = {
  test: ['**/*.test.ts'],
  // What takes minutes or starts processes: histories of faults, measurements, kills, releases.
  slow: ['**/*.slow.ts'],
  // The docs page in a browser.
  browser: ['**/*.browser.ts'],
};

/**
 * A log line or the state of a fault, for which a test waits (`expect.poll`), appears at once:
 * after 20 s, the wait is in vain.
 */
const TWO_MINUTES = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 20_000 } },
};
const FIFTEEN_MINUTES = { testTimeout: 900_000, hookTimeout: 900_000 };

export default defineConfig({
  test: {
    // Tests must not depend on their order.
    sequence: { shuffle: true },
    // By default, vitest leaves one core idle, which is half of a small machine.
    maxWorkers: '100%',
    projects: Object.entries(PROJECTS).map(([name, include]) => ({
      extends: true as const,
      test: {
        name,
        include,
        // Folders whose names begin with a dot can hold worktrees.
        exclude: [...configDefaults.exclude, '**/.*/**'],
        // Far more than any test needs, so that a busy machine does not fail it.
        ...(name === 'test' ? TWO_MINUTES : FIFTEEN_MINUTES),
      },
    })),
    // The test files in a process share its imports and servers (test/support/server.ts).
    isolate: false,
    environment: './test/support/environment.ts',
    setupFiles: './test/support/restore.ts',
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    env: {
      // Instead of the user's settings, such as signed commits.
      GIT_CONFIG_GLOBAL: join(import.meta.dirname, 'test/ops/gitconfig'),
      GIT_CONFIG_NOSYSTEM: '1',
      WRANGLER_SEND_METRICS: 'false',
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      // Otherwise the runtime writes a trace of every request to disk, which takes a third of the
      // request's time.
      X_LOCAL_OBSERVABILITY: 'false',
    },
  },
});
