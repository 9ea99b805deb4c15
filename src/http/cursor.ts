/**
 * The cursor that names a page of a list: opaque to clients, and versioned so that its content can change
 * while clients still hold older ones.
 */
import { crc32 } from '../crc32.ts';
import { parseInt64 } from './json.ts';

export type Cursor = {
  /** The list and its filter: see `pagedList`. */
  scope: string;
  /** Id of the last item of the page before. */
  lastId: bigint;
};

const VERSION = '1';

/** Base64url (RFC 4648, section 5, unpadded) of `1.<scope>.<last id>.<CRC-32 of what precedes>`. */
export function encodeCursor({ scope, lastId }: Cursor): string {
  const content = `${VERSION}.${scope}.${lastId}`;
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
  const [, scope = '', id = ''] = content.split('.');
  const lastId = parseInt64(id);
  if (lastId === undefined) return undefined;
  const cursor = { scope, lastId };
  return encodeCursor(cursor) === text ? cursor : undefined;
}
