/** Lists: one page, or all pages by following the `Link` header. */
import type { Client } from './attempt.ts';
import { throwIfAborted } from './deadline.ts';
import { StoreError } from './error.ts';
import { given, isText, must } from './options.ts';
import { request } from './request.ts';
import type { CallOptions, Page, Pages } from './types.ts';

type Query = { limit?: number | undefined };

/** The maximum `limit`: reading a whole list then takes the fewest requests. */
const MAX_LIMIT = 100;

/**
 * The query of the next page in `Link` (RFC 8288), as the store writes it: `<https://…?…>; rel="next"`. Behind a proxy
 * the rest of the address may be another one, and the API key must not go there: the client uses its own.
 */
const NEXT_LINK = /<[^<>?]*(\?[^<>]*)>[^<>,]*;\s*rel="?next\b/;

export function listOf<T>(
  client: Client,
  path: string,
  query: Query = {},
  options: CallOptions = {},
): Pages<T> {
  const signals = [options.signal, client.signal];

  async function fetchPage(search: string): Promise<Page<T>> {
    // Any other text could lead to another operation.
    must(isText(search, /^\?/), 'next', 'must start with ?');
    const { data, metadata } = await request<T[]>(client, 'GET', path + search, options, {
      returns: 'array',
    });
    const [, next] = NEXT_LINK.exec(metadata.headers.get('link') ?? '') ?? [];
    return { items: data, next, metadata };
  }

  async function* walk(limit: number) {
    const seen = new Set<string>();
    let search: string | undefined = searchOf(query, limit);
    while (search) {
      seen.add(search);
      const page: Page<T> = await fetchPage(search);
      for (const item of page.items) {
        throwIfAborted(signals);
        yield item;
      }
      checkProgress(page, seen);
      search = page.next;
    }
  }

  return {
    page: async (next = searchOf(query)) => fetchPage(next),
    [Symbol.asyncIterator]: () => walk(MAX_LIMIT),
    async toArray({ max }) {
      must(max >= 1, 'max', 'must be a number from 1');
      const items: T[] = [];
      for await (const item of walk(Math.min(max, MAX_LIMIT))) if (items.push(item) >= max) break;
      return items;
    },
  };
}

/** Otherwise, the loop might never end. @throws StoreError */
function checkProgress({ items, next, metadata }: Page<unknown>, seen: Set<string>) {
  if (next && (items.length === 0 || seen.has(next)))
    throw new StoreError('invalid_response', `No progress: ${next}`, { metadata });
}

function searchOf(query: Query, limit?: number) {
  const parameters = Object.entries(given({ ...query, limit: query.limit ?? limit }));
  return `?${new URLSearchParams(parameters)}`;
}
