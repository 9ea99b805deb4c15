import { createHash } from 'node:crypto';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The test files of each script of package.json that runs tests. */
const PROJECTS = {
  test: ['test/**/*.test.ts'],
  // Faults with more histories, and tests that measure times.
  long: ['test/**/*.long.ts', 'test/faults/histories.test.ts'],
  // Real processes, killed and started again, and damaged files.
  kill: ['test/**/*.kill.ts'],
  // Whole releases, with a fake of Cloudflare.
  release: ['test/**/*.release.ts'],
  // The packed client in a user's project, and in a Worker, Node.js 22, 24 and 26, Bun and Deno, which are installed for it.
  client: ['test/client/package.ts', 'test/client/runtimes.ts'],
  // A renamed copy of the newest commit, and its own tests.
  rename: ['test/**/*.copy.ts'],
  // The docs page and the client in a browser.
  browser: ['test/**/*.browser.ts'],
};

/** The file with the slowest test, a life of `npm start`. */
const SLOWEST = 'test/ops/start.test.ts';

/** Orders the files at random, but the slowest first: at the end, it would run alone. */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seed } = this.ctx.config.sequence;
    const place = ({ moduleId }: TestSpecification) =>
      moduleId.endsWith(SLOWEST)
        ? ''
        : createHash('sha1').update(`${seed} ${moduleId}`).digest('hex');
    return files.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
  }
}

const TWO_MINUTES = { testTimeout: 120_000, hookTimeout: 120_000 };
const FIFTEEN_MINUTES = { testTimeout: 900_000, hookTimeout: 900_000 };

export default defineConfig({
  test: {
    // Tests must not depend on their order.
    sequence: { shuffle: true, sequencer: SlowestFirst },
    // By default, vitest leaves one core idle, which is half of a small machine.
    maxWorkers: '100%',
    projects: Object.entries(PROJECTS).map(([name, include]) => ({
      extends: true as const,
      test: {
        name,
        include,
        // Multiplies the number of histories.
        env: { REPEAT: name === 'long' ? '10' : '1' },
        // Far more than any test needs, so that a busy machine does not fail it.
        ...(name === 'test' ? TWO_MINUTES : FIFTEEN_MINUTES),
      },
    })),
    // The files of a process share its imports, and its servers (test/server.ts).
    isolate: false,
    environment: './test/environment.ts',
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    env: {
      WRANGLER_SEND_METRICS: 'false',
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      // Otherwise the runtime writes a trace of every request to disk, which takes a third of its time.
      X_LOCAL_OBSERVABILITY: 'false',
    },
  },
});
