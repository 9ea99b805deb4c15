/**
 * The cursor of a list's page: opaque to clients, and versioned, so that its format can change while clients still
 * hold older cursors.
 */
import { crc32 } from '../crc32.ts';
import { parseInt64 } from './json.ts';

export type Cursor = {
  /** The name of the list. */
  list: string;
  /** Id of the last item of the previous page, in decimal. */
  lastId: string;
  /** The filters of the query, such as `status=sold`. */
  filters: string;
};

const VERSION = '1';

/** Base64url (RFC 4648, section 5, unpadded) of `1.<list>.<last id>.<filters>.<CRC-32 of the preceding text>`. */
export function encodeCursor({ list, lastId, filters }: Cursor): string {
  const content = `${VERSION}.${list}.${lastId}.${filters}`;
  // The checksum detects truncated cursors. It is not a signature.
  const text = `${content}.${crc32(content).toString(36)}`;
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The content of a cursor, or `undefined` for any text that `encodeCursor` does not produce. */
export function decodeCursor(text: string): Cursor | undefined {
  let content: string;
  try {
    content = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  } catch {
    return undefined;
  }
  const [, list = '', id = '', ...rest] = content.split('.');
  const lastId = parseInt64(id)?.toString();
  if (lastId === undefined) return undefined;
  const cursor = { list, lastId, filters: rest.slice(0, -1).join('.') };
  return encodeCursor(cursor) === text ? cursor : undefined;
}
