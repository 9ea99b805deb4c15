/** The fake's KV, for `npm run keys`. https://developers.cloudflare.com/api/resources/kv/ */
import { Hono } from 'hono';
import { error, ok } from './cloudflare-api.ts';

const PAGE = 1000;

export type Namespace = Map<string, { value: string; metadata: unknown }>;

export function fakeKv() {
  const namespaces = new Map<string, Namespace>();

  /** The content of a namespace, by name. */
  function namespace(id: string): Namespace {
    const found = namespaces.get(id) ?? new Map();
    namespaces.set(id, found);
    return found;
  }

  const routes = new Hono().basePath('/storage/kv/namespaces/:id');
  routes.get('/keys', ({ req }) => list(namespace(req.param('id')), req.query()));
  routes.get('/values/:name', ({ req }) => {
    const found = namespace(req.param('id')).get(req.param('name'));
    if (!found) throw error(404, 10009, 'key not found');
    return new Response(found.value);
  });
  routes.put('/values/:name', async ({ req }) => {
    const fields = await req.formData();
    const metadata = await new Response(fields.get('metadata') ?? 'null').json();
    const record = { value: await new Response(fields.get('value')).text(), metadata };
    namespace(req.param('id')).set(req.param('name'), record);
    return ok(null);
  });
  return { namespace, routes };
}

function list(stored: Namespace, { prefix = '', cursor = '0' }: Record<string, string>): Response {
  const names = [...stored.keys()].filter((name) => name.startsWith(prefix)).sort();
  const from = Number(cursor);
  const found = names.slice(from, from + PAGE);
  const next = from + PAGE < names.length ? String(from + PAGE) : '';
  const result = found.map((name) => ({ name, metadata: stored.get(name)?.metadata }));
  return ok(result, { count: found.length, cursor: next });
}
