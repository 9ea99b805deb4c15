/** `npm start`: sets up the local store and serves it. */
import { fork } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LOCAL_KEY, setUpLocalStore } from './local-store.ts';
import { reserveStore } from './serving.ts';
import { exitWithUsage } from './usage.ts';
import { WRANGLER_ENV } from './wrangler.ts';

const USAGE = 'usage: npm start -- [--port N]   (N from 1 to 65535, default 8787)';

// When npm is stopped, the shell between npm and this process ends without a signal.
const parent = process.ppid;
const hasParent = () => process.ppid === parent;

const port = readPort();
try {
  const served = reserveStore(port);
  if (served !== undefined) {
    fail(
      `This store is already running at http://localhost:${served}/docs. To run a second store, use another clone.`,
    );
  }
  if (!(await isFree(port))) {
    fail(`Port ${port} is in use. Choose another: npm start -- --port ${port + 1}`);
  }
  console.log('Setting up the local store …');
  await setUpLocalStore();
} catch (error) {
  const reason = error instanceof Error ? error.message : error;
  fail(`The local store cannot be set up: ${reason}`);
}

if (!hasParent()) process.exit(1);
const server = fork(join(import.meta.dirname, 'serve.ts'), [String(port)], {
  env: { ...process.env, ...WRANGLER_ENV, WRANGLER_LOG: 'warn' },
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  // In a process group of its own, which has the runtime as well.
  detached: process.platform !== 'win32',
});
server.once('message', () => {
  console.log(banner(`http://localhost:${port}`));
  server.on('message', () => console.log('Reloaded after a change.'));
});
server.on('exit', (code) => {
  endRuntime();
  process.exit(code ?? 1);
});
const stop = () => server.connected && server.disconnect();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
setInterval(() => hasParent() || stop(), 500).unref();

/** Ends the runtime of a server that was killed. Windows has no process groups. */
function endRuntime(): void {
  if (process.platform === 'win32' || server.pid === undefined) return;
  try {
    process.kill(-server.pid, 'SIGKILL');
  } catch {
    // The runtime has ended with the server.
  }
}

function banner(origin: string): string {
  return `
The animal store is ready.

  Try it in the browser:
  ${origin}/docs

  The API and the key of every local store:
  ${origin}/v1
  ${LOCAL_KEY}

  curl -i ${origin}/v1/pets -H 'Authorization: Bearer ${LOCAL_KEY}'

Ctrl-C stops the store, \`npm run reset\` empties it. Log of requests:
`;
}

function readPort(): number {
  try {
    const { values } = parseArgs({ options: { port: { type: 'string', default: '8787' } } });
    const port = Number(values.port);
    if (/^[0-9]+$/.test(values.port) && port >= 1 && port <= 65535) return port;
  } catch {
    // An unknown argument or a missing value: print the usage.
  }
  exitWithUsage(USAGE);
}

/** Whether the port is free on both addresses of `localhost`. */
async function isFree(port: number): Promise<boolean> {
  return (await canListen(port, '127.0.0.1')) && (await canListen(port, '::1'));
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    // Other errors, such as missing IPv6, do not mean that the port is in use.
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'EADDRINUSE'));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
