/** Lists: one page, or all pages by following the `Link` header. */
import type { Metadata } from './metadata.ts';
import type { Reply } from './operations.ts';

export type Page<T> = {
  items: T[];
  /** The address of the next page, for `page(next)`; `undefined` on the last page. */
  next: string | undefined;
  metadata: Metadata;
};

/** The maximum `limit`: reading a whole list then takes the fewest requests. */
const WALK_LIMIT = 100;

/** A list. The first request is sent by `for await` or `page()`. */
export interface Pages<T> extends AsyncIterable<T> {
  /**
   * Fetches one page: the first, or the one whose address is the `next` of an earlier page.
   *
   * @example
   * const { items, next } = await store.listPets({ limit: 10 }).page();
   * const second = next && (await store.listPets().page(next));
   */
  page(next?: string): Promise<Page<T>>;
}

export function pagesOf<T>(
  fetchPage: (address: string | undefined, limit?: number) => Promise<Reply<T[]>>,
  nextOf: (metadata: Metadata) => string | undefined,
): Pages<T> {
  async function page(address?: string, limit?: number): Promise<Page<T>> {
    const { data, metadata } = await fetchPage(address, limit);
    return { items: data, next: nextOf(metadata), metadata };
  }
  return {
    page: (next) => page(next),
    async *[Symbol.asyncIterator]() {
      let next: string | undefined;
      do {
        const current = await page(next, WALK_LIMIT);
        yield* current.items;
        next = current.next;
      } while (next !== undefined);
    },
  };
}
