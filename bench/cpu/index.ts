/**
 * The app over and over in one isolate, with bindings that answer at once: what is left is its own work. Who
 * calls takes the time, for the clock of a worker stands still while it computes.
 */
import { app } from '../../src/app.ts';

export type Task = {
  url: string;
  init: { method?: string; headers?: Record<string, string>; body?: string };
  /** How often. */
  runs: number;
  /** How many animals D1 answers with; `null` for an answer without the app, to compare with. */
  pets: number | null;
  /** Why the platform has the request refused: KV does not know its key, or its budget is spent. */
  refusal?: 'unknown key' | 'budget spent';
};

const PET = '{"id":12,"name":"Rex 12","categoryId":12,"status":"sold"}';

export default {
  async fetch(request: Request): Promise<Response> {
    const { url, init, runs, pets, refusal } = await request.json<Task>();
    const env = instantBindings(pets ?? 0, refusal);
    const answer = (sent: Request) => (pets === null ? new Response('[]') : app.fetch(sent, env));
    const print = console.log;
    console.log = () => {};
    let status = 0;
    for (let run = 0; run < runs; run += 1) {
      const response = await answer(new Request(url, init));
      await response.text();
      status = response.status;
    }
    console.log = print;
    return Response.json(status);
  },
};

function instantBindings(count: number, refusal: Task['refusal']) {
  const pets = `[${Array(count).fill(PET).join(',')}]`;
  const results = [{ items: pets, more_after: '12', json: PET, id: '12' }];
  const statement = { bind: () => statement, all: async () => ({ results, meta: {} }) };
  const limiter = { limit: async () => ({ success: refusal !== 'budget spent' }) };
  const record = '{"id":"bench","label":"bench","createdAt":"2026-11-20T00:00:00Z"}';
  return {
    ENVIRONMENT: 'production',
    BASE_URL: 'https://api.animal-store.example/v1',
    API_KEYS: { get: async () => (refusal === 'unknown key' ? null : record) },
    RATE_LIMITER: limiter,
    WRITE_RATE_LIMITER: limiter,
    ADDRESS_RATE_LIMITER: limiter,
    DB: { prepare: () => statement },
  };
}
