/** Lists: one page, or all pages by following the `Link` header. */
import { StoreError } from './error.ts';
import { type Client, matches, must, withoutNull } from './options.ts';
import { type Ids, request } from './request.ts';
import type { CallOptions, Pages } from './types.ts';

/** The maximum `limit`: with it, reading a whole list takes the fewest requests. */
const MAX_LIMIT = 100;

/**
 * The query of the next page in `Link` (RFC 8288), as the store writes it: `<https://…?…>; rel="next"`. The client takes only the
 * query: behind a proxy, host and path may differ from `baseUrl`, and the API key must not go to another host.
 */
const NEXT_LINK = /<[^<>?]*(\?[^<>]*)>[^<>,]*;\s*rel="?next\b/;

/** @param ids - those in the route, for a future list such as `/pets/{petId}/orders` */
export function listOf<T>(
  client: Client,
  route: string,
  query?: { limit?: number | undefined },
  options?: CallOptions,
  ids?: Ids,
): Pages<T> {
  async function fetchPage(search: string) {
    const { data, link, ...head } = await request<T[]>(client, 'GET', route + search, options, {
      ...ids,
      bodyType: 'array',
    });
    return { items: data, next: NEXT_LINK.exec(link)?.[1], head };
  }

  async function* walk(defaultLimit: number) {
    const seen = new Set<string>();
    let search: string | undefined = searchOf({ ...query, limit: query?.limit ?? defaultLimit });
    while (search) {
      seen.add(search);
      const { items, next, head } = await fetchPage(search);
      yield* items;
      // Otherwise, the loop might never end.
      if (next && (items.length === 0 || seen.has(next)))
        throw new StoreError('invalid_response', 'The pages do not end.', head);
      search = next;
    }
  }

  return {
    async page(search = searchOf(query)) {
      // Any other text could lead to another operation.
      must(matches(search, /^\?/), 'next', 'must start with ?');
      const { items, next } = await fetchPage(search);
      return { items, next };
    },
    [Symbol.asyncIterator]: () => walk(MAX_LIMIT),
    async toArray(options) {
      // A caller in JavaScript can pass anything.
      const { max } = Object(options);
      must(Number.isSafeInteger(max) && max >= 1, 'max', 'must be an integer above 0');
      const items: T[] = [];
      for await (const item of walk(Math.min(max, MAX_LIMIT))) {
        items.push(item);
        if (items.length >= max) break;
      }
      return items;
    },
  };
}

function searchOf(query?: object) {
  return `?${new URLSearchParams(Object(withoutNull(query)))}`;
}
