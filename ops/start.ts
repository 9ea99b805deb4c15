/** `npm start`: sets the local store up and serves it through `wrangler dev`. */
import { connect, createServer } from 'node:net';
import { parseArgs } from 'node:util';
import { LOCAL_KEY, setUpLocalStore } from './local-store.ts';
import { LOCAL, spawnWrangler } from './wrangler.ts';

const USAGE = 'usage: npm start -- [--port N]   (N from 1 to 65535, 8787 unless told)';

const port = readPort();
if (!(await isFree(port))) {
  console.error(`Port ${port} is taken. Choose another: npm start -- --port ${port + 1}`);
  process.exit(1);
}
await setUpLocalStore().catch((error: Error) => {
  console.error(`The local store cannot be set up. ${error.message}`);
  process.exit(1);
});

const server = spawnWrangler(['dev', '--port', String(port), ...LOCAL], { stdio: 'inherit' });
const stopped = new Set<NodeJS.Signals | null>();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    stopped.add(signal);
    server.kill(signal);
  });
}
server.on('exit', (code, signal) => process.exit(code ?? (stopped.has(signal) ? 0 : 1)));

// When npm is stopped, the shell between npm and us ends without telling us.
const parent = process.ppid;
setInterval(() => process.ppid === parent || server.kill('SIGTERM'), 500).unref();

await answering(port);
console.log(`
The animal store is at

  http://localhost:${port}/v1

and takes this key, which is good for nothing but local stores:

  ${LOCAL_KEY}

Try it:

  curl -i http://localhost:${port}/v1/pets -H 'Authorization: Bearer ${LOCAL_KEY}'
`);

function readPort(): number {
  try {
    const { values } = parseArgs({ options: { port: { type: 'string', default: '8787' } } });
    const port = Number(values.port);
    if (/^[0-9]+$/.test(values.port) && port >= 1 && port <= 65535) return port;
  } catch {
    // An unknown argument, or a missing value: the usage says what there is.
  }
  console.error(USAGE);
  process.exit(2);
}

/** Whether the port is free at both addresses that `localhost` may stand for. */
async function isFree(port: number): Promise<boolean> {
  return (await canListen(port, '127.0.0.1')) && (await canListen(port, '::1'));
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    // Any other error, such as a machine without IPv6, says nothing of the port.
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'EADDRINUSE'));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}

async function answering(port: number): Promise<void> {
  const isUp = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, 'localhost', () => resolve(true));
      socket.on('error', () => resolve(false)).on('close', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
  while (!(await isUp())) await new Promise((resolve) => setTimeout(resolve, 100));
}
