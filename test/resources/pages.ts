/** Pages of lists, for tests. */
import { expect } from 'vitest';
import type { Reply, Store } from '../store.ts';

/** The path of the page that `Link` names, or `undefined` on the last page. */
export function nextPath({ headers }: Reply): string | undefined {
  const address = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
  if (!address) return undefined;
  const { pathname, search } = new URL(address);
  return pathname + search;
}

/** The ids of each page from this path to the last, such as `1 2 3`. `afterPage` is called after each page. */
export async function pagesFrom(
  store: Store,
  path: string,
  afterPage: () => Promise<unknown> = async () => {},
): Promise<string[]> {
  const pages: string[] = [];
  for (let next: string | undefined = path; next; ) {
    const reply = await store.fetch(next);
    expect(reply.status).toBe(200);
    const ids = Array.from(reply.text.matchAll(/\{"id":(-?[0-9]+)/g), ([, id = '']) => id);
    pages.push(ids.join(' '));
    expect(pages.length, 'the pages do not end').toBeLessThan(100);
    next = nextPath(reply);
    await afterPage();
  }
  return pages;
}
