/**
 * A worker with bindings that fail on demand. PUT `/__faults` sets the faults, and releases the
 * held calls; GET `/__faults` returns the calls since the faults were set.
 */
import type { Bindings } from '../../src/context.ts';
import { setClock } from './clock.ts';
import { callWith, endCalls, type Fault, heldCalls, runLateCalls } from './fault.ts';

type Limiter = 'RATE_LIMITER' | 'WRITE_RATE_LIMITER';

export type Faults = {
  /** The variables and secrets of the environment; default those of the local one. */
  vars?: Partial<Pick<Bindings, 'ENVIRONMENT' | 'BASE_URL' | 'WRITES_STOPPED'>>;
  /** The app's time of day, in milliseconds since 1970; default the real one. */
  now?: number;
  kv?: Fault;
  limiters?: Fault;
  /**
   * The faults of the next calls of D1, in order; later calls work. A request can carry its own:
   * `X-D1-Fault`.
   */
  d1?: Fault[];
  /** The app reads a body while the client sends it. By default it gets the whole body. */
  streamsBodies?: boolean;
};

/**
 * The number of calls, the rows that D1 read and wrote, and where its sessions began.
 */
export class Calls {
  kvReads = 0;
  keyLimits = 0;
  d1 = 0;
  batches = 0;
  read = 0;
  written = 0;
  held = 0;
  sessions: string[] = [];
}

let faults: Faults = {};
let calls = new Calls();

/** The handler of a worker, with these bindings. */
export const failOnDemand =
  (fetch: ExportedHandlerFetchHandler<Bindings>): ExportedHandlerFetchHandler<Bindings> =>
  async (request, env, context) => {
    // Not `new URL`, which throws for a malformed `Host`.
    if (request.url.endsWith('/__faults')) return control(request);
    const isBuffered = request.body && !faults.streamsBodies;
    const body = isBuffered ? await request.arrayBuffer() : request.body;
    return fetch(new Request(request, { body }), withFaults(env, request.headers), context);
  };

async function control(request: Request) {
  if (request.method === 'PUT') {
    faults = await request.json<Faults>();
    calls = new Calls();
    setClock(faults.now);
    endCalls();
  }
  return Response.json({ ...calls, held: heldCalls() });
}

export function withFaults(env: Bindings, headers: Headers): Bindings {
  // A request that a test leaves behind does not count in the next test.
  const own = calls;

  const limiter = (name: Limiter): RateLimit => ({
    limit(options) {
      if (name === 'RATE_LIMITER') own.keyLimits += 1;
      return callWith(faults.limiters, () => env[name].limit(options), 'limiter unavailable');
    },
  });

  const readKv = (name: string, options: { cacheTtl: number }) => {
    own.kvReads += 1;
    const read = () => env.API_KEYS.get(name, options);
    return callWith(faults.kv, read, 'KV GET failed: 500 Internal Server Error');
  };

  const given: Fault[] = JSON.parse(headers.get('x-d1-fault') ?? '[]');
  /** Makes a call of D1. Those that run late take effect after it. */
  const queryD1 = async <T extends D1Result | D1Result[]>(query: () => Promise<T>) => {
    own.d1 += 1;
    const fault = given.shift() ?? faults.d1?.shift();
    const result = await callWith(fault, query, 'D1_ERROR: Network connection lost.');
    for (const { meta } of [result].flat()) {
      own.read += meta.rows_read;
      own.written += meta.rows_written;
    }
    await runLateCalls();
    return result;
  };
  /** A prepared statement whose calls can fail, also after `bind`, which returns another one. */
  const statement = (original: D1PreparedStatement): D1PreparedStatement => {
    const { bind, all, run } = original;
    return Object.assign(original, {
      bind: (...values: unknown[]) => statement(bind.apply(original, values)),
      all: () => queryD1(() => all.call(original)),
      run: () => queryD1(() => run.call(original)),
    });
  };
  const queriesOf = (original: D1Database | D1DatabaseSession) => ({
    prepare: (sql: string) => statement(original.prepare(sql)),
    batch(statements: D1PreparedStatement[]) {
      own.batches += 1;
      return queryD1(() => original.batch(statements));
    },
  });
  const withSession = (start: string) => {
    own.sessions.push(start);
    const session = env.DB.withSession(start);
    return { ...queriesOf(session), getBookmark: () => session.getBookmark() };
  };
  return {
    ...env,
    ...faults.vars,
    DB: Object.assign(Object.create(env.DB), { ...queriesOf(env.DB), withSession }),
    API_KEYS: Object.assign(Object.create(env.API_KEYS), {
      get: readKv,
      put: env.API_KEYS.put.bind(env.API_KEYS),
    }),
    RATE_LIMITER: limiter('RATE_LIMITER'),
    WRITE_RATE_LIMITER: limiter('WRITE_RATE_LIMITER'),
  };
}
