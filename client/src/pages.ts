/** Lists: one page, or all pages by following the `Link` header. */
import type { Client } from './attempt.ts';
import { StoreError } from './error.ts';
import { isText, must, withoutNull } from './options.ts';
import { request } from './request.ts';
import type { Reply } from './response.ts';
import type { CallOptions, Pages } from './types.ts';

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
  const fetchPage = (search: string) =>
    request<T[]>(client, 'GET', path + search, options, { returns: 'array' });

  async function* walk(defaultLimit: number) {
    const seen = new Set<string>();
    let search: string | undefined = searchOf({ ...query, limit: query?.limit ?? defaultLimit });
    while (search) {
      seen.add(search);
      const reply: Reply<T[]> = await fetchPage(search);
      yield* reply.data;
      search = nextOf(reply);
      // Otherwise, the loop might never end.
      if (search && (reply.data.length === 0 || seen.has(search)))
        throw new StoreError('invalid_response', 'The pages do not end.', reply);
    }
  }

  return {
    async page(search = searchOf(query)) {
      // Any other text could lead to another operation.
      must(isText(search, /^\?/), 'next', 'must start with ?');
      const reply = await fetchPage(search);
      return { items: reply.data, next: nextOf(reply) };
    },
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

function nextOf({ link }: { link: string }) {
  return NEXT_LINK.exec(link)?.[1];
}

function searchOf(query: Query | undefined) {
  return `?${new URLSearchParams(Object.entries(withoutNull(query)))}`;
}
