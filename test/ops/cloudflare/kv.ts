/** The fake's KV. https://developers.cloudflare.com/api/resources/kv/ */
import * as z from 'zod';
import { type Answer, envelope, error, form, json, ok, page, type Route, text } from './api.ts';

const PAGE = 1000;

export type Namespace = Map<string, { value: string; metadata: unknown }>;

export type FakeKv = {
  routes: Route[];
  /** What a namespace holds, by name. */
  namespace(id: string): Namespace;
};

/** `ids` are given to new namespaces; `onPut` hears of what is written. */
export function fakeKv(
  ids: string[] = [],
  onPut: (
    id: string,
    name: string,
    value: string,
    metadata: unknown,
  ) => Promise<void> = async () => {},
): FakeKv {
  const namespaces = new Map<string, Namespace>();
  const created: { id: string; title: string }[] = [];

  function namespace(id: string): Namespace {
    const found = namespaces.get(id) ?? new Map();
    namespaces.set(id, found);
    return found;
  }

  return {
    namespace,
    routes: [
      [/^GET \/storage\/kv\/namespaces$/, (call) => page(call, created)],
      [
        /^POST \/storage\/kv\/namespaces$/,
        (call) => {
          const { title } = json(call, z.object({ title: z.string() }));
          if (created.some((each) => each.title === title)) return error(400, 10014, 'it exists');
          const id = ids[created.length];
          if (!id) throw new Error('no namespace is left');
          created.push({ id, title });
          return ok({ id, title });
        },
      ],
      [
        /^GET \/storage\/kv\/namespaces\/([^/]+)\/keys$/,
        ({ query }, id = '') => list(namespace(id), query),
      ],
      [
        /^GET \/storage\/kv\/namespaces\/([^/]+)\/values\/(.*)$/,
        (_, id = '', name = '') => {
          const found = namespace(id).get(name);
          return found ? { body: found.value } : error(404, 10009, 'key not found');
        },
      ],
      [
        /^PUT \/storage\/kv\/namespaces\/([^/]+)\/values\/(.*)$/,
        async (call, id = '', name = '') => {
          const fields = await form(call);
          const value = await text(fields.get('value'));
          const metadata = await text(fields.get('metadata'));
          const entry = { value, metadata: metadata === '' ? undefined : JSON.parse(metadata) };
          namespace(id).set(name, entry);
          await onPut(id, name, value, entry.metadata);
          return ok(null);
        },
      ],
    ],
  };
}

function list(stored: Namespace, query: URLSearchParams): Answer {
  const names = [...stored.keys()]
    .filter((name) => name.startsWith(query.get('prefix') ?? ''))
    .sort();
  const from = Number(query.get('cursor') ?? 0);
  const page = names.slice(from, from + PAGE);
  const cursor = from + PAGE < names.length ? String(from + PAGE) : '';
  const result = page.map((name) => ({ name, metadata: stored.get(name)?.metadata }));
  return { body: { ...envelope(result), result_info: { count: page.length, cursor } } };
}
