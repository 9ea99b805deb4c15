/**
 * `npm run bench:cpu`: what a request costs the store itself, in microseconds: in workerd, in one isolate, with
 * bindings that answer at once. (One thread does all of it, so the time that passes is CPU time.)
 */
import { generateKey } from '../src/keys/format.ts';
import { build, serve } from './contenders.ts';
import type { Task } from './cpu/index.ts';
import { type Summary, summarize } from './statistics.ts';

const ORIGIN = 'https://api.animal-store.example';
const URL_OF_PETS = `${ORIGIN}/v1/pets`;
const RUNS = 1_000;
/** The engine has optimised what it will have optimised after so many. */
const WARM_UP = 5;
const ROUNDS = 15;

const headers = {
  authorization: `Bearer ${generateKey('production')}`,
  'cf-connecting-ip': '192.0.2.1',
  'content-type': 'application/json',
};
const body = '{"name":"Rex 12","categoryId":12,"status":"sold"}';
const create = {
  method: 'POST',
  body,
  headers: { ...headers, 'content-length': String(body.length) },
};

const withCredential = (credential: string) => ({
  headers: { ...headers, authorization: `Bearer ${credential}` },
});

/** An answer without the app: what a Request and a Response cost by themselves. */
export const WITHOUT_APP = 'no app at all';

const TASKS: Record<string, Omit<Task, 'runs'>> = {
  [WITHOUT_APP]: { url: URL_OF_PETS, init: { headers }, pets: null },
  'list of 1': { url: `${URL_OF_PETS}?limit=1`, init: { headers }, pets: 1 },
  'list of 20': { url: `${URL_OF_PETS}?limit=20`, init: { headers }, pets: 20 },
  'list of 100': { url: `${URL_OF_PETS}?limit=100`, init: { headers }, pets: 100 },
  get: { url: `${URL_OF_PETS}/12`, init: { headers }, pets: 1 },
  create: { url: URL_OF_PETS, init: create, pets: 1 },
  'refused: no key': { url: URL_OF_PETS, init: {}, pets: 0 },
  'refused: malformed key': { url: URL_OF_PETS, init: withCredential('garbage'), pets: 0 },
  'refused: unknown key': {
    ...{ url: URL_OF_PETS, init: withCredential(generateKey('production')), pets: 0 },
    refusal: 'unknown key',
  },
  'refused: no such path': { url: `${ORIGIN}/wp-login.php`, init: {}, pets: 0 },
  'refused: rate limited': {
    ...{ url: URL_OF_PETS, init: { headers }, pets: 0 },
    refusal: 'budget spent',
  },
  'refused: bad query': { url: `${URL_OF_PETS}?limit=0`, init: { headers }, pets: 0 },
};

/** Microseconds a request, by what is asked. */
export async function measureCpu(onRound: () => void): Promise<Record<string, Summary>> {
  const built = await build('bench/cpu/index.ts');
  const server = await serve(built);
  const times = new Map(Object.keys(TASKS).map((name): [string, number[]] => [name, []]));
  try {
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      for (const [name, task] of Object.entries(TASKS)) {
        const start = performance.now();
        const json = JSON.stringify({ ...task, runs: RUNS } satisfies Task);
        // Not at `/`: there the static assets answer.
        const reply = await fetch(`${server.origin}/run`, { method: 'POST', body: json });
        if (!reply.ok) throw new Error(`${name}: ${reply.status} ${await reply.text()}`);
        const status = Number(await reply.text());
        if (status >= 500) throw new Error(`${name}: the app answered ${status}`);
        const micros = ((performance.now() - start) * 1000) / RUNS;
        if (round >= 0) times.get(name)?.push(micros);
      }
      onRound();
    }
  } finally {
    await server.close();
    await built.remove();
  }
  return Object.fromEntries(Array.from(times, ([name, values]) => [name, summarize(values)]));
}

/** Rounds that `measureCpu` reports. */
export const CPU_ROUNDS = WARM_UP + ROUNDS;

if (import.meta.main) {
  for (const [name, { median, low, high }] of Object.entries(await measureCpu(() => {}))) {
    const figure = `${median.toFixed(0)} (${low.toFixed(0)}–${high.toFixed(0)})`;
    console.log(`${figure.padStart(16)} µs  ${name}`);
  }
}
