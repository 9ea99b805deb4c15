/** Lists: one page, or all pages by following the `Link` header. */
import type { Client } from './attempt.ts';
import { throwIfAborted } from './deadline.ts';
import { StoreError } from './error.ts';
import { isText, must, withoutNull } from './options.ts';
import { request } from './request.ts';
import type { CallOptions, Page, Pages } from './types.ts';

type Query = { limit?: number | undefined };

/** The maximum `limit`: with it, reading a whole list takes the fewest requests. */
const MAX_LIMIT = 100;

/**
 * The query of the next page in `Link` (RFC 8288), as the store writes it: `<https://…?…>; rel="next"`. Behind a proxy
 * the rest of the address may be another one, and the API key must not go there: the client uses its own.
 */
const NEXT_LINK = /<[^<>?]*(\?[^<>]*)>[^<>,]*;\s*rel="?next\b/;

export function listOf<T>(
  client: Client,
  path: string,
  query?: Query,
  options?: CallOptions,
): Pages<T> {
  async function fetchPage(search = searchOf(query)): Promise<Page<T>> {
    // Any other text could lead to another operation.
    must(isText(search, /^\?/), 'next', 'must start with ?');
    const call = request<T[]>(client, 'GET', path + search, options, { returns: 'array' });
    const { data, metadata } = await call.withMetadata();
    const next = NEXT_LINK.exec(metadata.headers.get('link') ?? '')?.[1];
    return { items: data, next, metadata };
  }

  async function* walk(defaultLimit: number) {
    const seen = new Set<string>();
    let search: string | undefined = searchOf({ ...query, limit: query?.limit ?? defaultLimit });
    while (search) {
      seen.add(search);
      const { items, next, metadata }: Page<T> = await fetchPage(search);
      yield* untilAborted(items);
      // Otherwise, the loop might never end.
      if (next && (items.length === 0 || seen.has(next)))
        throw new StoreError('invalid_response', 'The pages do not end.', { metadata });
      search = next;
    }
  }

  function* untilAborted(items: T[]) {
    for (const item of items) {
      throwIfAborted([options?.signal, client.signal]);
      yield item;
    }
  }

  return {
    page: fetchPage,
    [Symbol.asyncIterator]: () => walk(MAX_LIMIT),
    async toArray({ max }) {
      must(max >= 1, 'max', 'must be a number from 1');
      const items: T[] = [];
      for await (const item of walk(Math.min(max, MAX_LIMIT))) {
        items.push(item);
        if (items.length >= max) break;
      }
      return items;
    },
  };
}

function searchOf(query: Query | undefined) {
  return `?${new URLSearchParams(Object.entries(withoutNull(query)))}`;
}
