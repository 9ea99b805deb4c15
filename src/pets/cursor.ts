/**
 * The cursor that names a page of the list: opaque to clients, and versioned so that its content can
 * change while old ones are still about. It holds the last id of the page before, and the filter.
 */
import { crc32 } from '../crc32.ts';
import { parseInt64 } from '../json.ts';

export type Cursor = {
  /** Id of the last animal on the page before. */
  lastId: bigint;
  /** The filter of the list, `undefined` for none. */
  status: string | undefined;
};

const VERSION = '1';

/** Base64url (RFC 4648, section 5, unpadded) of `1.<status>.<last id>.<CRC-32 of what precedes>`. */
export function encodeCursor({ lastId, status = '' }: Cursor): string {
  const content = `${VERSION}.${status}.${lastId}`;
  // The checksum is no secret. It tells a cursor that was cut short from one that starts elsewhere.
  const text = `${content}.${crc32(content).toString(36)}`;
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The content of a cursor, or `undefined` for anything that `encodeCursor` did not write. */
export function decodeCursor(text: string): Cursor | undefined {
  let content: string;
  try {
    content = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  } catch {
    return undefined;
  }
  const [, status, id = ''] = content.split('.');
  const lastId = parseInt64(id);
  if (lastId === undefined) return undefined;
  const cursor = { lastId, status: status || undefined };
  return encodeCursor(cursor) === text ? cursor : undefined;
}
