/** Lists: one page, or all items. */
import { StoreError } from './error.ts';

export type Page<T> = {
  items: T[];
  /** The query of the next page, for `page(next)`. `undefined` on the last page. */
  next: string | undefined;
};

/** A list: `for await` reads all its items, page by page. */
export type Pages<T> = AsyncIterable<T> & {
  /**
   * Fetches the first page, or the one that the `next` of an earlier page leads to.
   * @example const { items, next } = await store.listPets({ limit: 10 }).page();
   */
  page: (next?: string) => Promise<Page<T>>;
};

/** With the maximum page size, reading all items takes the fewest requests. */
const MAX_LIMIT = 100;

export function pagesOf<T>(fetchPage: (query: string) => Promise<Page<T>>, query = {}): Pages<T> {
  return {
    page: (next = queryText(query)) => fetchPage(next),
    async *[Symbol.asyncIterator]() {
      let next: string | undefined = queryText({ limit: MAX_LIMIT, ...query });
      while (next !== undefined) {
        const page: Page<T> = await fetchPage(next);
        // Otherwise, the loop might never end. A cache that ignores the query returns one page
        // again and again.
        if (page.next !== undefined && (page.items.length === 0 || page.next === next))
          throw new StoreError('invalid_response', 'The pages have no end.');
        yield* page.items;
        next = page.next;
      }
    },
  };
}

/**
 * The query in a `Link` (RFC 8288). Host and path are not used: behind a proxy they differ from
 * `baseUrl`, and the API key must not go to another host.
 */
export function nextQuery(link: string | null): string | undefined {
  return /<[^<>?]*\?([^<>]*)>; rel="next"/.exec(link ?? '')?.[1];
}

function queryText(query: object) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given).toString();
}
