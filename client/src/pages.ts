/** Lists: one page, or all pages by following the `Link` header. */
import type { ListOrdersQuery, ListPetsQuery } from '../names.d.ts';
import type { Client } from './attempt.ts';
import { abortedBy, type Signals } from './deadline.ts';
import { StoreError } from './error.ts';
import type { Metadata } from './metadata.ts';
import { type CallOptions, must } from './options.ts';
import { request } from './request.ts';

export type Page<T> = {
  items: T[];
  /** Leads to the next page, with `page(next)`; `undefined` on the last page. */
  next: string | undefined;
  metadata: Metadata;
};

/** The maximum `limit`: reading a whole list then takes the fewest requests. */
const MAX_LIMIT = 100;

/**
 * The query of the next page in `Link` (RFC 8288), as the store writes it: `<https://…?…>; rel="next"`. Behind a proxy
 * the rest of the address may be another one, and the API key must not go there: the client uses its own.
 */
const NEXT_LINK = /<[^<>?]*(\?[^<>]*)>[^<>,]*;\s*rel="?next\b/;

/** A list. The first request is sent by `for await`, `page()` or `toArray()`. */
export interface Pages<T> extends AsyncIterable<T> {
  /**
   * Fetches one page: the first, or the one that the `next` of an earlier page leads to.
   *
   * @example
   * const { items, next } = await store.listPets({ limit: 10 }).page();
   * const second = next && (await store.listPets().page(next));
   */
  page(next?: string): Promise<Page<T>>;

  /**
   * Fetches the first `max` items, or all if there are fewer.
   * @example const pets = await store.listPets({ status: 'sold' }).toArray({ max: 500 });
   */
  toArray(options: { max: number }): Promise<T[]>;
}

export function listOf<T>(
  client: Client,
  path: string,
  query: ListPetsQuery | ListOrdersQuery = {},
  options: CallOptions = {},
): Pages<T> {
  const signals = [options.signal, client.defaults.signal];
  async function page(next?: string, limit?: number) {
    const route = path + (next ?? queryOf({ ...query, limit: query.limit ?? limit }));
    const { data, metadata } = await request<T[]>(client, 'GET', route, options, {
      returns: 'array',
    });
    const link = NEXT_LINK.exec(metadata.headers.get('Link') ?? '');
    return { items: data, next: link?.[1], metadata };
  }
  return {
    page,
    [Symbol.asyncIterator]: () => walk(page, MAX_LIMIT, signals),
    async toArray({ max }) {
      must(max >= 1, 'max: must be a number from 1');
      const items: T[] = [];
      for await (const item of walk(page, Math.min(max, MAX_LIMIT), signals))
        if (items.push(item) >= max) break;
      return items;
    },
  };
}

async function* walk<T>(
  fetchPage: (next: string | undefined, limit: number) => Promise<Page<T>>,
  limit: number,
  signals: Signals,
) {
  const seen = new Set<string | undefined>();
  let next: string | undefined;
  do {
    const page = await fetchPage(next, limit);
    for (const item of page.items) {
      const aborted = abortedBy(signals);
      if (aborted) throw aborted;
      yield item;
    }
    next = page.next;
    // The loop would never end.
    if (seen.has(next)) throw new StoreError('invalid_response', `A cycle: ${next}`, page);
    seen.add(next);
  } while (next);
}

function queryOf(parameters: object): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return `?${new URLSearchParams(given)}`;
}
