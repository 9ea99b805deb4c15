/** The watch of a version's log, with a fake of the process that tails it. whole.slow.ts watches with the real one. */
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { PassThrough } from 'node:stream';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { errorText } from '../../../ops/command/wrangler.ts';
import { importWith } from '../command.ts';

type Watch = typeof import('../../../ops/release/tail.ts').watchErrors;

const LOST = 'the watch of the log failed, not the version (without a watch: --hold 0): ';

/** A wrangler that ends at the first signal. */
function fakeTail() {
  const child = Object.assign(new EventEmitter(), {
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    kill: vi.fn(),
  });
  child.kill.mockImplementation(() => child.emit('close'));
  const startWrangler = vi.fn((..._: unknown[]) => child);
  return { child, startWrangler };
}

let tail: ReturnType<typeof fakeTail>;
let stop: AbortController;
let watch: () => ReturnType<Watch>;
beforeEach(async () => {
  tail = fakeTail();
  stop = new AbortController();
  const mocks = {
    '../../ops/command/wrangler.ts': { startWrangler: tail.startWrangler, errorText },
  };
  const tailModule: { watchErrors: Watch } = await importWith('release/tail.ts', mocks);
  watch = () => tailModule.watchErrors('production', 'new', stop);
  return () => vi.useRealTimers();
});

/** Watches the log. */
async function connected() {
  tail.child.stdout.write('Connected to animal-store-production, waiting for logs...\n');
  return watch();
}

/** The message with which the watch ends the release. */
const reason = () => vi.waitUntil(() => stop.signal.aborted && stop.signal.reason.message, 20_000);

test('the log of one version is filtered for 500s by Cloudflare', async () => {
  await connected();
  expect(tail.startWrangler.mock.calls[0]).toEqual([
    'tail --env production --format pretty --version-id new --search internal_error'.split(' '),
    // A group of processes, which can be ended.
    { detached: true },
  ]);
  expect(stop.signal.aborted).toBe(false);
});

test('the first 500 ends the release, with its request and cause', async () => {
  await connected();
  tail.child.stdout.write('POST https://animals.test/v1/pets - Ok @ 12:00\n');
  tail.child.stdout.write('  (log) {"code":"internal_error","cause":"first"}\n');
  const event =
    'POST https://animals.test/v1/pets - Ok @ 12:00   (log) {"code":"internal_error","c';
  expect(await reason()).toContain(`the version answered 500: ${event}`);
  expect(tail.child.kill).toHaveBeenCalledExactlyOnceWith('SIGTERM');
});

test.each([
  ['line, which says that events were dropped,', 'stdout', 'Tail is in sampling mode\n'],
  ['warning, which says that the connection is lost,', 'stderr', 'Tail connection lost'],
] as const)('any other %s ends the release', async (_, stream, text) => {
  await connected();
  tail.child[stream].write(text);
  expect(await reason()).toContain(LOST + text.trim());
});

test('a watch that ends by itself without a word ends the release', async () => {
  await connected();
  tail.child.emit('close');
  expect(await reason()).toBe(`${LOST}wrangler tail is not connected`);
});

test('a watch that is not connected after a minute ends the release', async () => {
  vi.useFakeTimers();
  const watching = watch();
  vi.advanceTimersByTime(60_000);
  await expect(watching).rejects.toThrow(`${LOST}wrangler tail is not connected`);
});

test('a connected watch lasts longer than a minute', async () => {
  vi.useFakeTimers();
  await connected();
  vi.advanceTimersByTime(99_999);
  expect(stop.signal.aborted).toBe(false);
});

test('a wrangler that cannot be started ends the release, not its process', async () => {
  const watching = watch();
  tail.child.emit('error', new Error('spawn node EAGAIN'));
  await expect(watching).rejects.toThrow('spawn node EAGAIN');
});

test('an interrupt ends the watch, also before it is connected', async () => {
  const start = watch();
  stop.abort(new Error('interrupted'));
  await expect(start).rejects.toThrow('interrupted');
  expect(tail.child.kill).toHaveBeenCalledExactlyOnceWith('SIGTERM');
});

test('a wrangler that ignores the end of the watch is killed after ten seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const ignore = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1_000)";
  const command = ['--eval', `${ignore}; console.log('Connected to the store')`];
  const child = spawn(process.execPath, command, { detached: true });
  onTestFinished(() => void child.kill('SIGKILL'));
  tail.startWrangler.mockReturnValue(child as never);
  await watch();
  stop.abort(new Error('interrupted'));
  vi.advanceTimersByTime(9_999);
  expect(child.signalCode).toBeNull();
  vi.advanceTimersByTime(1);
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
});

test('a watch does not start after an interrupt', async () => {
  stop.abort(new Error('interrupted'));
  await expect(watch()).rejects.toThrow('interrupted');
  expect(tail.startWrangler).not.toHaveBeenCalled();
});
