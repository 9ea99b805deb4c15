/** `npm run demo`: this worker and plain Hono under the same faults, each in a workerd of its own, with a D1 and a KV. */
import { LOCAL_KEY } from '../ops/local/store.ts';
import type { Faults } from '../test/faults/worker.ts';
import { type Call, headersOf } from '../test/support/stubs.ts';
import { build, type Server, withServers } from './servers.ts';
import { table } from './statistics.ts';

/** A client waits for so long, in which the clock of the workers makes minutes: see test/faults/clock.ts. */
const PATIENCE_MS = 5_000;

const LARGE = '9007199254740993';
const PET = '{"name":"Rex","categoryId":3,"status":"available"}';
const LIST = { method: 'GET', path: '/v1/pets' };
const CREATE = { ...LIST, method: 'POST', body: PET, headers: { 'idempotency-key': 'k' } };
const ORDER = { method: 'POST', path: '/v1/store/orders', body: '{"petId":1}' };

/** `better` is the worker that serves its client better. */
const SCENES: {
  fault: string;
  better: string;
  /** Default: pets. */
  table?: 'orders';
  play: (client: ReturnType<typeof clientOf>) => Promise<void>;
}[] = [
  {
    fault: "D1's answer to a create is lost; the client retries twice with its Idempotency-Key",
    better: 'this worker',
    async play({ send, setFaults }) {
      await setFaults({ d1: ['loses the response'] });
      await send(CREATE);
      await setFaults({});
      await send(CREATE);
      await send(CREATE);
    },
  },
  {
    fault: 'a categoryId beyond 2^53 is written, and one is read',
    better: 'this worker',
    async play({ send, env }) {
      await send({ ...CREATE, body: PET.replace('3', LARGE) });
      await env.DB.exec(`INSERT INTO pets VALUES (7, 'Max', ${LARGE}, NULL)`);
      await send({ ...LIST, path: '/v1/pets/7' });
    },
  },
  {
    fault: 'KV fails, 58 minutes after it returned the API key',
    better: 'this worker, unless the key was revoked',
    async play({ send, setFaults }) {
      await send(LIST);
      await setFaults({ kv: 'throws', now: Date.now() + 3_480_000 });
      await send(LIST);
    },
  },
  {
    fault: 'D1 hangs',
    better: 'this worker',
    async play({ send, setFaults }) {
      await setFaults({ d1: [{ takes: 3_600_000 }] });
      await send(CREATE);
    },
  },
  {
    fault: '20 clients order one animal',
    better: 'equal',
    table: 'orders',
    async play({ send }) {
      await send(CREATE);
      await send(ORDER, 20);
    },
  },
];

/** A client of a worker. What it sees is printed, and collected in short. */
function clientOf({ port, env }: Server) {
  const url = `http://127.0.0.1:${port}`;
  const seen: string[] = [];

  const request = async (call: Call): Promise<string> => {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const init = { ...call, headers: headersOf(call, LOCAL_KEY), signal };
    const response = await fetch(url + call.path, init).catch(() => null);
    if (!response) return 'timeout';
    const text = await response.text();
    return `${response.status} ${text.replace(/(?<="placedAt":")[^"]+/, '…')}`;
  };

  return {
    env,
    seen,
    setFaults: (faults: Faults) =>
      request({ method: 'PUT', path: '/__faults', body: JSON.stringify(faults) }),

    /** Sends a request so many times at once. */
    async send(call: Call, count = 1) {
      const replies = await Promise.all(Array.from({ length: count }, () => request(call)));
      for (const [reply, same] of Map.groupBy(replies.sort(), String)) {
        const times = count === 1 ? '' : `${same.length} × `;
        console.log(`    ${call.method} ${call.path}: ${times}${reply}`);
        // The status, and an id beyond 2^53.
        seen.push(times + /^\w+( .*:\d{16})?/.exec(reply)?.[0].replace(/ .*:/, ' '));
      }
    },
  };
}

const bundles = {
  'this worker': await build('test/faults/app.ts'),
  'plain Hono': await build('bench/workers/faulty-plain-hono.ts'),
};
const rows: string[][] = [];
for (const { fault, better, table: stored = 'pets', play } of SCENES) {
  console.log(fault);
  const cells: string[] = [];
  for (const [name, bundle] of Object.entries(bundles)) {
    console.log(`  ${name}`);
    await withServers([bundle], 0, async (server) => {
      const client = clientOf(server);
      await client.setFaults({});
      await play(client);
      const count = await client.env.DB.prepare(`SELECT count(*) FROM ${stored}`).raw();
      console.log(`    stored ${stored}: ${count}`);
      cells.push(`${client.seen.join(', ')}; ${count} stored`);
    });
  }
  rows.push([fault, ...cells, better]);
}
console.log(table(['fault', ...Object.keys(bundles), 'better'], rows));
