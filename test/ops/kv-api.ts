/** The fake's KV, for `npm run keys`. https://developers.cloudflare.com/api/resources/kv/ */
import { envelope, error, ok, type Routes, text } from './cloudflare/api.ts';

const PAGE = 1000;

export type Namespace = Map<string, { value: string; metadata: unknown }>;

export function fakeKv() {
  const namespaces = new Map<string, Namespace>();

  function namespace(id = ''): Namespace {
    const found = namespaces.get(id) ?? new Map();
    namespaces.set(id, found);
    return found;
  }

  const values = '/storage/kv/namespaces/:id/values/:name';
  return {
    /** The content of a namespace, by name. */
    namespace,
    routes: {
      'GET /storage/kv/namespaces/:id/keys': (request, id) =>
        list(namespace(id), new URL(request.url).searchParams),
      [`GET ${values}`]: (_, id, name = '') => {
        const found = namespace(id).get(name);
        return found ? new Response(found.value) : error(404, 10009, 'key not found');
      },
      [`PUT ${values}`]: async (request, id, name = '') => {
        const fields = await request.formData();
        const metadata = await text(fields.get('metadata'));
        const value = await text(fields.get('value'));
        namespace(id).set(name, { value, metadata: metadata ? JSON.parse(metadata) : undefined });
        return ok(null);
      },
    } satisfies Routes,
  };
}

function list(stored: Namespace, query: URLSearchParams): Response {
  const names = [...stored.keys()]
    .filter((name) => name.startsWith(query.get('prefix') ?? ''))
    .sort();
  const from = Number(query.get('cursor') ?? 0);
  const found = names.slice(from, from + PAGE);
  const cursor = from + PAGE < names.length ? String(from + PAGE) : '';
  const result = found.map((name) => ({ name, metadata: stored.get(name)?.metadata }));
  return Response.json({ ...envelope(result), result_info: { count: found.length, cursor } });
}
