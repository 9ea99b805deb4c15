/**
 * Runs a create: within a day, once for each `Idempotency-Key`.
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header
 */
import type { AuthenticatedContext } from '../context.ts';
import { ConstraintError } from '../d1/failure.ts';
import { insertInto, Sql, sql, type Value } from '../d1/sql.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import { parseJson } from '../http/json.ts';
import { runQueries } from '../http/run-queries.ts';
import { NOTHING_WRITTEN } from '../http/unavailable.ts';
import { sha256 } from '../sha256.ts';

/** How long the record of an idempotency key is valid, in hours and in milliseconds. */
export const KEPT_HOURS = 24;
export const KEPT_MS = KEPT_HOURS * 3_600_000;

/** A create: one transaction. If a statement violates a constraint, nothing is written. */
export type Create<Item> = {
  /** The table of the new row. Its ids are AUTOINCREMENT. */
  into: string;
  /** The new row, by column. A subquery that finds nothing is NULL, which a NOT NULL column rejects. */
  row: Record<string, Value>;
  /** The new item, without its id: the response, also to a retry. */
  item: Item;
  /** The writes after it. `id` is SQL: the id of the new row, as long as no other row is inserted into its table. */
  followedBy?: (id: Sql) => Sql[];
  /** Why a request can violate a constraint of one column. A violation of any other is a mistake of ours: a 500. */
  refusal?: Refusal;
};

/** `read` finds the data that explain the violation, and `reason` says it. */
type Refusal = { column: string; read: Sql; reason: (found: boolean, cause: Error) => Error };

/** What an item may contain. Not a number: a retry would return it as a bigint (`parseJson`). */
type Stored = string | bigint | boolean | null | undefined | Stored[];

/** The context of a create: its request has a body, and maybe parameters of the path. */
export type CreateContext = AuthenticatedContext<{
  out: { json: object; param?: object; query?: object };
}>;

/**
 * Carries out a create.
 *
 *     first request   one transaction inserts the row, carries out the writes after it, removes an expired record of the key, and
 *                     inserts the record of the key
 *     retry           the same transaction violates the unique index of the record, or another constraint, and writes nothing;
 *                     then the record is read, and its item is the response again
 *
 * @returns the item with its id. The response to a retry has `Idempotency-Replayed: true`.
 * @throws ApiError 422 if the first request had another path or body; the refusal; and the errors of `runQueries`.
 */
export async function createOnce<Item extends Record<string, Stored>>(
  c: CreateContext,
  { into, row, item, followedBy = () => [], refusal }: Create<Item>,
): Promise<{ id: bigint } & Item> {
  requireFirstCall(c);
  const create = sql<{ id: string }>`${insertInto(into, row)} RETURNING CAST(id AS TEXT) AS id`;
  // Ids are AUTOINCREMENT, so the new one is the largest.
  const id = new Sql(`(SELECT max(id) FROM ${into})`, []);
  const request = await keyedRequest(c);
  const record = request ? insertRecord(request, id, item) : [];
  try {
    const [[created]] = await runQueries(c, create, ...followedBy(id), ...record);
    if (!created) throw new Error('INSERT … VALUES has inserted no row');
    return { id: BigInt(created.id), ...item };
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    return replay(c, await recordOrRefusal(c, error, request, into, refusal));
  }
}

/** The requests that have called `createOnce`. */
const called = new WeakSet<object>();

/** A request has one idempotency key, so it creates one item. */
function requireFirstCall(c: CreateContext): void {
  if (called.has(c)) throw new Error('a request may call createOnce only once');
  called.add(c);
}

/** A request with an idempotency key. */
type KeyedRequest = { keyHash: ArrayBuffer; requestHash: ArrayBuffer; now: number };

async function keyedRequest(c: CreateContext): Promise<KeyedRequest | undefined> {
  const { idempotencyKey, client, definition } = c.var;
  if (idempotencyKey === undefined) return undefined;
  // The same key of another client or operation is another key.
  const key = [client.id, definition.operationId, idempotencyKey];
  // Validated: neither the order of the fields nor `01` for the id 1 makes another request.
  const request = [c.req.valid('param'), c.req.valid('query'), c.req.valid('json')];
  return {
    keyHash: await sha256(JSON.stringify(key)),
    requestHash: await sha256(JSON.stringify(request)),
    now: Date.now(),
  };
}

/** Inserts the record. */
function insertRecord({ keyHash, requestHash, now }: KeyedRequest, id: Sql, item: object): Sql[] {
  return [
    sql`DELETE FROM idempotency_keys
      WHERE key_hash = ${keyHash} AND created_at <= ${now - KEPT_MS}`,
    sql`INSERT INTO idempotency_keys (key_hash, created_at, request_hash, item_id, item)
      VALUES (${keyHash}, ${now}, ${requestHash}, ${id}, ${JSON.stringify(item)})`,
  ];
}

/** The record of the first request. */
type RecordRow = { item_id_text: string; item: string; is_same: 0 | 1 };

/** The record of a retry, where any constraint may be the first to fail. Otherwise, throws why the request violated it. */
async function recordOrRefusal(
  c: CreateContext,
  error: ConstraintError,
  request: KeyedRequest | undefined,
  table: string,
  refusal: Refusal | undefined,
): Promise<RecordRow> {
  const read = refusal?.read ?? sql`SELECT 1`;
  const reading = runQueries(c, selectRecord(request), read);
  const [[first], [found]] = await reading.catch(throwNothingWritten);
  if (first) return first;
  // SQLite's error names each column of the constraint, such as `orders.pet_id`.
  if (!refusal || !error.message.split(/[:,\s]+/).includes(`${table}.${refusal.column}`))
    throw error;
  throw refusal.reason(found !== undefined, error);
}

/** The 503 of `runQueries` would say that the write may have happened, but the violation has undone it. */
function throwNothingWritten(error: unknown): never {
  throw error instanceof ApiError ? serviceUnavailable(NOTHING_WRITTEN, error.cause) : error;
}

/** Selects the record, unless it has expired. */
function selectRecord(request?: KeyedRequest): Sql<RecordRow> {
  if (!request) return sql`SELECT 1 WHERE FALSE`;
  const { keyHash, requestHash, now } = request;
  return sql<RecordRow>`SELECT CAST(item_id AS TEXT) AS item_id_text, item,
      request_hash = ${requestHash} AS is_same
    FROM idempotency_keys
    WHERE key_hash = ${keyHash} AND created_at > ${now - KEPT_MS}`;
}

function replay<Item>(c: CreateContext, record: RecordRow): { id: bigint } & Item {
  if (!record.is_same) throw idempotencyKeyReused();
  c.header('Idempotency-Replayed', 'true');
  const item: Item = parseJson(record.item);
  return { id: BigInt(record.item_id_text), ...item };
}

export function idempotencyKeyReused(): ApiError {
  return new ApiError(
    'idempotency_key_reused',
    `This Idempotency-Key was used with another path or body within the last ${KEPT_HOURS} hours.`,
  );
}
