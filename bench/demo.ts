/**
 * Sends the same requests under the same faults to this worker and to plain Hono, each in a workerd
 * of its own, with a D1 and a KV.
 */
import { LOCAL_KEY } from '../ops/local/store.ts';
import type { Faults } from '../test/faults/worker.ts';
import { type Call, headersOf } from '../test/support/stubs.ts';
import { drawPictures, type Step } from './draw.ts';
import { REQUESTS } from './race.ts';
import { buildAll, type Server, withServers } from './servers.ts';
import { table } from './statistics.ts';

/**
 * A client waits for so long, in which the clock of the workers makes minutes: see
 * test/faults/clock.ts.
 */
const PATIENCE_MS = 5_000;

const LARGE = '9007199254740993';
const CREATE = { ...REQUESTS.create, headers: { 'idempotency-key': 'k' } };

const SCENES: Record<string, (client: ReturnType<typeof clientOf>) => Promise<void>> = {
  async "D1's answer to a create is lost; 2 retries"({ send, setFaults }) {
    await setFaults({ d1: ['loses the response'] });
    for (let attempt = 1; attempt <= 3; attempt += 1) await send(CREATE);
  },
  async '2^53 + 1 is sent, then read from another row'({ send, env }) {
    await send({ ...CREATE, body: CREATE.body.replace('3', LARGE) });
    await env.DB.exec(`INSERT INTO pets VALUES (7, 'Max', ${LARGE}, NULL)`);
    await send({ path: '/v1/pets/7' });
  },
  async 'A list, repeated 58 minutes later while KV fails'({ send, setFaults }) {
    await send(REQUESTS.list);
    await setFaults({ kv: 'throws', now: Date.now() + 3_480_000 });
    await send(REQUESTS.list);
  },
  async 'D1 takes an hour to answer a create'({ send, setFaults }) {
    await setFaults({ d1: [{ takes: 3_600_000 }] });
    await send(CREATE);
  },
};

/** A client of a worker, which keeps what it sees. */
function clientOf({ port, env }: Server) {
  const url = `http://127.0.0.1:${port}`;
  const steps: Step[] = [];

  const request = async (call: Call): Promise<string> => {
    const response = await fetch(url + call.path, {
      ...call,
      headers: headersOf(LOCAL_KEY, call.headers),
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).catch(() => null);
    if (!response) return 'no answer';
    // The last digits of an integer beyond 2^53.
    const digits = /(?<="categoryId":\d{12})\d{4}/.exec(await response.text());
    return digits ? `${response.status} …${digits}` : `${response.status}`;
  };
  return {
    env,
    steps,
    setFaults: (faults: Faults) =>
      request({ method: 'PUT', path: '/__faults', body: JSON.stringify(faults) }),

    async send(call: Call) {
      const reply = await request(call);
      const animals = await env.DB.prepare('SELECT count(*) FROM pets').first('count(*)');
      steps.push({ reply, animals: Number(animals) });
    },
  };
}

const WORKERS = {
  'this worker': 'test/faults/app.ts',
  'plain Hono': 'bench/workers/faulty-plain-hono.ts',
};

/** Returns a table, and draws the first scene for README.md. */
export async function playScenes(): Promise<string> {
  const names = Object.keys(WORKERS);
  const bundles = await buildAll(Object.values(WORKERS));
  const rows: string[][] = [];
  for (const [fault, play] of Object.entries(SCENES)) {
    const scene = await withServers(bundles, 0, (...servers) =>
      Promise.all(
        servers.map(async (server) => {
          const client = clientOf(server);
          await client.setFaults({});
          await play(client);
          return client.steps;
        }),
      ),
    );
    if (rows.length === 0) drawPictures(names, scene);
    const cells = scene.map((steps) => {
      const replies = steps.map(({ reply }) => reply).join(', ');
      return `${replies}; ${steps.at(-1)?.animals} stored`;
    });
    rows.push([fault, ...cells]);
  }
  return table(['fault', ...names], rows);
}
