/** The store with few animals and with many: what a request uses, and what the database weighs. */
import { encodeCursor } from '../src/http/cursor.ts';
import { addPets } from './animals.ts';
import { type Build, type Server, serve } from './contenders.ts';
import { type Call, meter, queryPlan, type Usage } from './meter.ts';

/** What is asked of each size. */
export type ScaleCase = { name: string; call: Call };

export type Size = {
  pets: number;
  databaseBytes: number;
  /** By case. */
  usage: Record<string, Usage>;
};

export const CREATE: Call = {
  path: '/v1/pets',
  method: 'POST',
  body: '{"name":"Rex","categoryId":3,"status":"sold"}',
};

/** A page that begins after nine tenths of the animals. */
export function deepPage(pets: number, { limit = 20, status = '' } = {}): string {
  const lastId = BigInt(Math.floor(pets * 0.9));
  const filter = status && `&status=${status}`;
  const cursor = encodeCursor({ scope: status, lastId });
  return `/v1/pets?limit=${limit}${filter}&cursor=${cursor}`;
}

function cases(pets: number): ScaleCase[] {
  const once = { ...CREATE, headers: { 'idempotency-key': crypto.randomUUID() } };
  return [
    { name: 'list of 20, first page', call: { path: '/v1/pets?limit=20' } },
    { name: 'list of 20, deep page', call: { path: deepPage(pets) } },
    { name: 'list of 20 sold, first page', call: { path: '/v1/pets?limit=20&status=sold' } },
    { name: 'list of 20 sold, deep page', call: { path: deepPage(pets, { status: 'sold' }) } },
    { name: 'list of 1', call: { path: '/v1/pets?limit=1' } },
    { name: 'list of 100', call: { path: '/v1/pets?limit=100' } },
    { name: 'list of 100 sold', call: { path: '/v1/pets?limit=100&status=sold' } },
    { name: 'get', call: { path: `/v1/pets/${Math.floor(pets / 2)}` } },
    { name: 'create', call: CREATE },
    { name: 'create with Idempotency-Key', call: once },
    { name: 'the same again', call: once },
  ];
}

/** Serves the store with that many animals, and measures what cannot vary. */
export async function serveSize(
  build: Build,
  pets: number,
  onProgress: (added: number) => void,
): Promise<{ server: Server; size: Size }> {
  const server = await serve(build);
  await addPets(server.env.DB, pets, onProgress);
  const { meta } = await server.env.DB.prepare('SELECT 1').run();
  const usage: Size['usage'] = {};
  for (const { name, call } of cases(pets)) usage[name] = await meter(server.env, call);
  return { server, size: { pets, databaseBytes: meta.size_after, usage } };
}

/** The steps of each statement of a request, in order. */
export async function plans(env: Env, usage: Usage): Promise<string[][]> {
  const all: string[][] = [];
  for (const sql of usage.statements) all.push(await queryPlan(env.DB, sql));
  return all;
}
