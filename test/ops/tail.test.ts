/** The watch of a version's log, with a fake of the process that tails it. */
import { PassThrough } from 'node:stream';
import { beforeEach, expect, test, vi } from 'vitest';

import { errorText } from '../../ops/wrangler.ts';
import { importWith } from './in-process.ts';

type Watch = typeof import('../../ops/tail.ts').watchErrors;
type ErrorLog = Awaited<ReturnType<Watch>>;

const LINE = { method: 'POST', route: '/v1/pets', code: 'internal_error', cause: 'no such table' };

function fakeTail() {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const kill = vi.fn(() => stderr.end());
  const startWrangler = vi.fn((_args: string[]) => ({ stdout, stderr, kill }));
  return { stdout, stderr, kill, startWrangler };
}

let tail: ReturnType<typeof fakeTail>;
let stop: AbortController;
let watch: () => Promise<ErrorLog>;
beforeEach(async () => {
  tail = fakeTail();
  stop = new AbortController();
  const mocks = { '../../ops/wrangler.ts': { startWrangler: tail.startWrangler, errorText } };
  const { watchErrors }: typeof import('../../ops/tail.ts') = await importWith('tail.ts', mocks);
  watch = () => watchErrors('production', 'new', stop.signal);
});

/** A log that is watched. */
async function connected(): Promise<ErrorLog> {
  tail.stdout.write('Connected to animal-store-production, waiting for logs...\n');
  return watch();
}

test('the log of one version is filtered for 500s by Cloudflare', async () => {
  const log = await connected();
  tail.stdout.write('POST https://api.test/v1/pets - Ok @ 1/1/2027\n');
  log.requireNone();
  expect(tail.startWrangler.mock.calls[0]).toEqual([
    'tail --env production --format pretty --version-id new --search internal_error'.split(' '),
  ]);
});

test('a 500 is shown with its request and cause, the first one alone', async () => {
  const log = await connected();
  for (const cause of ['first', 'second'])
    tail.stdout.write(`  (log) ${JSON.stringify({ ...LINE, cause })}\n`);
  await vi.waitFor(() =>
    expect(log.requireNone).toThrow(/^the version answered 500: .*POST.*\/v1\/pets.*first/),
  );
});

test('a log that cannot be watched is an error with the cause', async () => {
  tail.stderr.end('\n✘ [ERROR] Authentication error [code: 10000]\n\n🪵 Logs were written\n');
  await expect(watch()).rejects.toThrow('the log is not watched: Authentication error');
});

test('a watch that ends by itself is an error', async () => {
  const log = await connected();
  tail.stderr.end('✘ [ERROR] Unable to reconnect\n');
  await vi.waitFor(() =>
    expect(log.requireNone).toThrow('the log is not watched: Unable to reconnect'),
  );
});

test('an interrupt ends the watch, also before it is connected', async () => {
  const start = watch();
  stop.abort();
  await expect(start).rejects.toThrow('the log is not watched');
  expect(tail.kill).toHaveBeenCalledExactlyOnceWith('SIGTERM');
});

test('a watch can be ended', async () => {
  (await connected()).end();
  expect(tail.kill).toHaveBeenCalledExactlyOnceWith('SIGTERM');
});
