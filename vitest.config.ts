import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // No test may rely on another having run before it.
    sequence: { shuffle: true },
    // Unless told, vitest leaves one core idle, which is half of a small machine.
    maxWorkers: '100%',
    // One import of wrangler for each worker, not for each file: no file keeps state in a module.
    isolate: false,
    // Far more than any test needs: a busy machine is no failure.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    env: { WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' },
  },
});
