/**
 * The built worker with rate limiters and a clock that tests set. PUT `/__control` changes the
 * settings, GET `/__control` returns the report.
 */
import app from '../../src/index.ts';
import type { Backend, Calls, Settings } from './backend.ts';

export type Controls = Settings & {
  /** Resets everything; real time again. */
  restart?: true;
  /** Lets the held calls return, and holds no later ones. */
  release?: true;
  /** Moves the time of day forward by this many milliseconds. */
  advance?: number;
  /** From now on, timers and the time of day run this many times as fast. */
  speed?: number;
  /** Written to the log, so that a reader knows that it has everything before it. */
  mark?: string;
};

export type Report = Calls & {
  /** Requests that reached the worker since the test began, and how many of them have not finished. */
  requests: number;
  unfinished: number;
};

type TestEnv = Env & { BACKEND: DurableObjectNamespace<Backend> };

const plainNow = Date.now;
const plainSetTimeout = globalThis.setTimeout;
let now = plainNow();
let setAt = now;
let speed = 1;
// The app calls both through the globals at call time.
Date.now = () => now + (plainNow() - setAt) * speed;
globalThis.setTimeout = ((callback: () => void, ms = 0) =>
  plainSetTimeout(callback, ms / speed)) as typeof setTimeout;

let counts = { requests: 0, unfinished: 0 };

export default {
  async fetch(request, env, context) {
    const backend = env.BACKEND.getByName('the only one');
    if (new URL(request.url).pathname === '/__control') {
      if (request.method === 'PUT') {
        const {
          restart,
          release,
          advance = 0,
          speed: faster,
          mark,
          ...settings
        } = await request.json<Controls>();
        if (restart) {
          counts = { requests: 0, unfinished: 0 };
          await backend.restart();
        }
        now = Date.now() + advance;
        setAt = plainNow();
        speed = restart ? 1 : (faster ?? speed);
        if (mark) console.log(mark);
        await backend.set(release ? { ...settings, delays: {} } : settings);
        if (release) await backend.release();
      }
      return Response.json({ ...(await backend.report()), ...counts });
    }
    const limiter = (name: string) => ({ limit: () => backend.limit(name) });
    const bindings = {
      ...env,
      RATE_LIMITER: limiter('RATE_LIMITER'),
      ADDRESS_RATE_LIMITER: limiter('ADDRESS_RATE_LIMITER'),
      WRITE_RATE_LIMITER: limiter('WRITE_RATE_LIMITER'),
    };
    const counted = counts;
    counted.requests += 1;
    counted.unfinished += 1;
    const response = await app.fetch(request, bindings, context);
    counted.unfinished -= 1;
    return response;
  },
} satisfies ExportedHandler<TestEnv>;
