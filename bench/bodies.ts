/**
 * `npm run bench:bodies`: what a create costs whose body is as large as it may be, in milliseconds of CPU: all
 * of the service's own work, in one process, with bindings that answer at once. Whatever the shape of the
 * body, it should be a few.
 */
import { LOCAL_KEY } from '../ops/local-store.ts';
import { app } from '../src/app.ts';

const SIZE = 16 * 1024;
const RUNS = 50;

const fill = (start: string, item: (i: number) => string, end: string) => {
  let text = start;
  for (let i = 0; text.length + item(i).length + end.length <= SIZE; i += 1) text += item(i);
  return text.replace(/,$/, '') + end;
};
const pet = '{"name":"Rex","categoryId":';

const BODIES: Record<string, string> = {
  'an ordinary animal': `${pet}3,"status":"sold"}`,
  'a name as long as fits': fill('{"categoryId":1,"name":"', () => 'x', '"}'),
  'an integer of 16,000 digits': fill(pet, () => '9', '}'),
  'zeros, then a one': fill(`${pet}0.`, () => '0', '1}'),
  'an exponent of 16,000 digits': fill(`${pet}1e`, () => '9', '}'),
  'thousands of numbers in an array': fill(`${pet}[`, () => '1,', ']}'),
  'thousands of unknown fields': fill('{', (i) => `"${i}":${i},`, '}'),
  'thousands of huge exponents': fill('{', (i) => `"${i}":1e1000000000,`, '}'),
  'one field, again and again': fill('{', () => '"name":1,', '}'),
  'arrays nested 8,000 deep': '['.repeat(SIZE / 2) + ']'.repeat(SIZE / 2),
  'objects nested 2,700 deep': '{"a":'.repeat(2700) + 1 + '}'.repeat(2700),
  'nothing but white space': ' '.repeat(SIZE),
  'quotes and backslashes': fill('{"name":"', () => '\\"', '","categoryId":1}'),
};

const statement = {
  bind: () => statement,
  all: async () => ({ results: [{ pet_id: '1', pet: '{}' }], meta: {} }),
};
const env = {
  ENVIRONMENT: 'local',
  API_KEYS: {
    get: async () => '{"id":"bench","label":"bench","createdAt":"2026-11-20T00:00:00Z"}',
  },
  RATE_LIMITER: { limit: async () => ({ success: true }) },
  ADDRESS_RATE_LIMITER: { limit: async () => ({ success: true }) },
  DB: { prepare: () => statement },
};
const headers = { authorization: `Bearer ${LOCAL_KEY}`, 'content-type': 'application/json' };

async function create(body: string, runs: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < runs; i += 1) {
    const response = await app.request('/v1/pets', { method: 'POST', body, headers }, env);
    statuses.push(response.status);
    await response.text();
  }
  return statuses;
}

// The access log would be printed.
const print = console.log;
console.log = () => {};
for (const body of Object.values(BODIES)) await create(body, RUNS);
for (const [name, body] of Object.entries(BODIES)) {
  const before = process.cpuUsage();
  const [status] = await create(body, RUNS);
  const { user, system } = process.cpuUsage(before);
  const ms = (user + system) / 1000 / RUNS;
  print(`${ms.toFixed(2).padStart(6)} ms  ${status}  ${name}`);
}
