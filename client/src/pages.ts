/** Lists: one page, or all pages by following the `Link` header. */

import type { Reply } from './attempt.ts';
import { abortedBy } from './deadline.ts';
import { StoreError } from './error.ts';
import { type Metadata, nextLink } from './metadata.ts';

export type Page<T> = {
  items: T[];
  /** Leads to the next page, with `page(next)`; `undefined` on the last page. */
  next: string | undefined;
  metadata: Metadata;
};

/** The maximum `limit`: reading a whole list then takes the fewest requests. */
const MAX_LIMIT = 100;

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

/** Builds a list on a function that fetches a page: the one at this query, or the first one with this `limit`. */
export function pagesOf<T>(
  fetchPage: (next: string | undefined, limit?: number) => Promise<Reply<T[]>>,
  signals: AbortSignal[],
): Pages<T> {
  async function page(next?: string, limit?: number): Promise<Page<T>> {
    if (next !== undefined && !/^\?/.test(next))
      throw new TypeError('page: must be the `next` of an earlier page');
    const { data, metadata } = await fetchPage(next, limit);
    return { items: data, next: nextOf(metadata, next), metadata };
  }
  async function* walk(limit: number): AsyncGenerator<T, void, undefined> {
    let next: string | undefined;
    do {
      const current = await page(next, limit);
      for (const item of current.items) {
        const aborted = abortedBy(signals);
        if (aborted) throw aborted;
        yield item;
      }
      next = current.next;
    } while (next !== undefined);
  }
  return {
    page: (next) => page(next),
    [Symbol.asyncIterator]: () => walk(MAX_LIMIT),
    async toArray({ max }) {
      if (!(max >= 1)) throw new TypeError('max: must be a number from 1');
      const items: T[] = [];
      for await (const item of walk(Math.min(max, MAX_LIMIT))) if (items.push(item) >= max) break;
      return items;
    },
  };
}

/**
 * The query of the next page. Behind a proxy the rest of its address may be another one, and the API key must not go
 * there: the client uses its own.
 */
function nextOf(metadata: Metadata, current: string | undefined): string | undefined {
  const target = nextLink(metadata.headers);
  if (target === undefined) return undefined;
  const query = /\?[^#]*/.exec(target)?.[0];
  // It would fetch the same page forever.
  if (!query || query === current)
    throw new StoreError('invalid_response', `Not a next page: ${target}`, { metadata });
  return query;
}
