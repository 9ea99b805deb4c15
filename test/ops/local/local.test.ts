/** The commands of the local store, with a fake of wrangler's server. start.kill.ts runs them as real processes. */
import { EventEmitter } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { LOCAL_KEY, RUNTIME } from '../../../ops/local/store.ts';
import { runInProcess } from '../../support/command.ts';
import { temporaryFolder } from '../../support/project.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

type Options = { dev: { structuredLogsHandler: (log: { message: string }) => void } };

/**
 * Runs `npm start`, without a store. Returns also how it serves it. `problem`: of wrangler's server. `ipv6`: whether this machine can
 * listen on `localhost`, which is ::1.
 */
async function start(args: string[] = [], problem?: Error, ipv6 = true) {
  const unstable_startWorker = vi.fn(async ({ dev }: Options) => {
    if (problem) throw problem;
    dev.structuredLogsHandler({ message: '{"colo":"\u009b31m"}\nnext' });
    const raw = new EventEmitter();
    setImmediate(() => raw.emit('reloadComplete'));
    return { raw };
  });
  const mocks = {
    wrangler: { unstable_startWorker },
    'node:net': {
      createServer: () => {
        const probe = Object.assign(new EventEmitter(), { listen: () => probe, close: () => {} });
        setImmediate(() => probe.emit(ipv6 ? 'listening' : 'error'));
        return probe;
      },
    },
    '../../ops/local/store.ts': {
      LOCAL_KEY,
      RUNTIME,
      reserveStore() {},
      setUpLocalStore: async () => {},
    },
  };
  const { env } = process;
  // It sets variables for wrangler, and ends the process at a signal.
  process.env = { ...env };
  vi.spyOn(process, 'on').mockReturnThis();
  vi.spyOn(process, 'once').mockReturnThis();
  const result = await runInProcess('start.ts', mocks, args);
  process.env = env;
  return { ...result, served: unstable_startWorker.mock.calls };
}

test('npm start serves the store on this machine alone, and shows a request', async () => {
  const { code, stdout, served } = await start(['--port', '8790']);
  expect(code).toBe(0);
  // Not the environment of a .env file, no tunnel, and no inspector, which any page can use.
  const server = { hostname: 'localhost', port: 8790 };
  const dev = { inspector: false, server, structuredLogsHandler: expect.any(Function) };
  expect(served).toEqual([[{ config: 'wrangler.toml', env: '', dev }]]);
  const request = `curl -i -w '\\n' http://localhost:8790/v1/pets -H 'Authorization: Bearer ${LOCAL_KEY}'`;
  expect(stdout).toContain(request);
  // Nothing that a terminal carries out.
  expect(stdout).toContain('\n{"colo":"\uFFFD31m"}\nnext\n');
});

test('npm start serves 127.0.0.1 where localhost is ::1 without IPv6', async () => {
  const { stdout, served } = await start([], undefined, false);
  expect(served).toMatchObject([[{ dev: { server: { hostname: '127.0.0.1' } } }]]);
  expect(stdout).toContain("curl -i -w '\\n' http://127.0.0.1:8787/v1/pets ");
});

test("npm start ends with exit code 1 and the cause of wrangler's error", async () => {
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exit code ${code}`);
  });
  const problem = new Error('The server failed', { cause: new Error('no memory') });
  const { stderr, served } = await start([], problem);
  // The port of the documents.
  expect(served).toMatchObject([[{ dev: { server: { port: 8787 } } }]]);
  expect(stderr).toBe('error: no memory\nerror: exit code 1\n');
});

test('the option --port, which npm keeps without "--", is used, too', async () => {
  vi.stubEnv('npm_config_port', '8842');
  expect((await start()).served).toMatchObject([[{ dev: { server: { port: 8842 } } }]]);
  vi.stubEnv('npm_config_port', 'true');
  expect(await start()).toMatchObject({ code: 2, served: [] });
});

// local.kill.ts tests that a start ends a real runtime that is left.
test('reset deletes the store, and ends the runtimes of this folder until none is left', async () => {
  const PROJECT_ROOT = await temporaryFolder();
  const state = join(PROJECT_ROOT, '.wrangler/state');
  const spawnSync = vi.fn().mockReturnValueOnce({ status: 0 }).mockReturnValue({ status: 1 });
  const mocks = {
    '../../ops/command/project-root.ts': { PROJECT_ROOT },
    'node:child_process': { spawnSync },
  };
  const atExit = vi.spyOn(process, 'once').mockReturnThis();
  mkdirSync(state, { recursive: true });
  const stdout = 'The local store is empty. npm start sets it up again.\n';
  expect(await runInProcess('reset.ts', mocks, [])).toEqual({ code: 0, stdout, stderr: '' });
  expect([existsSync(state), spawnSync.mock.calls.length]).toEqual([false, 2]);
  // The exact path: a dot matches no other character.
  const [, [, , pattern = ''] = []] = spawnSync.mock.calls[0] ?? [];
  expect(RUNTIME).toMatch(new RegExp(pattern));
  expect(RUNTIME.replaceAll('.', 'x')).not.toMatch(new RegExp(pattern));
  const [, release] = atExit.mock.calls[0] ?? [];
  release?.();
});
