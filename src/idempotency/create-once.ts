/**
 * Runs a create: within a day, once for each `Idempotency-Key`.
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header
 */
import type { Database } from '../d1/database.ts';
import { ConstraintError, D1Failure } from '../d1/failure.ts';
import { insertInto, Sql, sql, type Value } from '../d1/sql.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import { parseJson } from '../exact-json.ts';

/** How long a record is valid. */
export const KEPT_HOURS = 24;
export const KEPT_MS = KEPT_HOURS * 3_600_000;

export type Create<Item, Reason> = {
  /** The table of the new row, whose ids are AUTOINCREMENT. */
  into: string;
  /** By column. A subquery that finds nothing is NULL, which a NOT NULL column rejects. */
  row: Record<string, Value>;
  /** The response without its id, also to a retry. */
  item: Item;
  /**
   * The writes after it. `id` selects the largest id of `into`: use it before any write that inserts
   * into that table.
   */
  followedBy?: (id: Sql) => Sql[];
  refusal?: Refusal<Reason>;
};

/** The violation of a constraint on one column, explained by a row. Any other is a 500. */
type Refusal<Reason> = {
  column: string;
  read: Sql<Reason>;
  error: (reason: Reason | undefined) => ApiError;
};

/** What an item may contain. A number is a double (`decimal`). */
type Stored = number | Exact;
type Exact = string | bigint | boolean | null | undefined | Exact[];

export type KeyedRequest = { keyHash: ArrayBuffer; requestHash: ArrayBuffer; now: number };

/** Without `request`, nothing recognizes a retry. */
export type Once = {
  request?: KeyedRequest | undefined;
  isUsed?: true;
  /** The response is that of an earlier request. */
  isReplay?: true;
};

/**
 * One transaction inserts the row and the record of the key, and carries out the writes after it.
 * A retry violates a constraint, such as the unique index of the record, and writes nothing: then
 * the record is the response. So after a transient error of D1, the statements are sent again.
 *
 * A refusal is recorded, too, because an earlier attempt may still be under way.
 *
 *     attempt 1:  sent ── lost ───────────────────────────── arrives: violates the index of the key
 *     attempt 2:           violates a constraint ── the refusal is recorded ── 409
 *
 * @throws ApiError 422 if the first request had another path or body; the refusal; the errors of
 *   `db.run`; Error at a second call for one request.
 */
export async function createOnce<Item extends Record<string, Stored>, Reason>(
  db: Database,
  once: Once,
  create: Create<Item, Reason>,
): Promise<{ id: bigint } & Item> {
  if (once.isUsed) throw new Error('call createOnce only once');
  once.isUsed = true;
  const { request } = once;
  try {
    return { id: await insertRow(db, request, create), ...create.item };
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    const refusal = refusalOf(create, error);
    if (request) return replay(once, create.item, await firstRecord(db, request, error, refusal));
    throw refusal ? await refusalError(db, refusal) : error;
  }
}

async function insertRow<Item, Reason>(
  db: Database,
  request: KeyedRequest | undefined,
  { into, row, item, followedBy = () => [] }: Create<Item, Reason>,
): Promise<bigint> {
  const insert = sql<{ id: string }>`${insertInto(into, row)} RETURNING CAST(id AS TEXT) AS id`;
  const id = new Sql(`(SELECT max(id) FROM ${into})`, []);
  const record = request ? insertRecord(request, id, JSON.stringify(item)) : [];
  const statements = [insert, ...record, ...followedBy(id)] as const;
  const [[created]] = await (request ? db.runIdempotent(...statements) : db.run(...statements));
  if (!created) throw new Error('no row was inserted');
  return BigInt(created.id);
}

function refusalOf<Item, Reason>(
  { into, refusal }: Create<Item, Reason>,
  violation: ConstraintError,
): Refusal<Reason> | undefined {
  return refusal && violates(violation, `${into}.${refusal.column}`) ? refusal : undefined;
}

/** SQLite names the columns of the constraint, such as `orders.pet_id`. */
function violates({ message }: ConstraintError, column: string): boolean {
  return message.split(/[:,\s]+/).includes(column);
}

async function refusalError<Reason>(db: Database, { read, error }: Refusal<Reason>) {
  const [[reason]] = await db.run(read).catch(throwNothingWritten);
  return error(reason);
}

/** Because the write was undone, the 503 must not say that it may have happened. */
function throwNothingWritten(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  throw serviceUnavailable(
    'The database did not respond. This request has changed nothing: retry it.',
    error.cause,
  );
}

/** @param id - `null` for a refusal, whose `item` is the Error body. */
function insertRecord(
  { keyHash, requestHash, now }: KeyedRequest,
  id: Sql | null,
  item: Value,
): [Sql, Sql] {
  return [
    sql`DELETE FROM idempotency_keys
      WHERE key_hash = ${keyHash} AND created_at <= ${now - KEPT_MS}`,
    sql`INSERT INTO idempotency_keys (key_hash, created_at, request_hash, item_id, item)
      VALUES (${keyHash}, ${now}, ${requestHash}, ${id}, ${item})`,
  ];
}

type RecordRow = { item_id_text: string | null; item: string; is_same: 0 | 1 };

function selectRecord({ keyHash, requestHash, now }: KeyedRequest): Sql<RecordRow> {
  return sql`SELECT CAST(item_id AS TEXT) AS item_id_text, item,
      request_hash = ${requestHash} AS is_same
    FROM idempotency_keys
    WHERE key_hash = ${keyHash} AND created_at > ${now - KEPT_MS}`;
}

/** The record of the first request, or of this refusal. */
async function firstRecord<Reason>(
  db: Database,
  request: KeyedRequest,
  violation: ConstraintError,
  refusal: Refusal<Reason> | undefined,
): Promise<RecordRow> {
  const reads = refusal ? [refusal.read] : [];
  const [[record], [reason] = []] = await db.run(selectRecord(request), ...reads);
  if (record) return record;
  const closed = refusal && (await closeKey(db, request, refusal.error(reason)));
  if (closed) return closed;
  // The record has been removed since.
  throw violates(violation, 'idempotency_keys.key_hash')
    ? db.toError(new D1Failure('unknown outcome', violation))
    : violation;
}

/** Records a refusal, unless another attempt has recorded its response. */
async function closeKey(
  db: Database,
  request: KeyedRequest,
  refusal: ApiError,
): Promise<RecordRow | undefined> {
  const [removeExpired, insert] = insertRecord(request, null, JSON.stringify(refusal));
  const [_expired, _inserted, [first]] = await db.run(
    removeExpired,
    sql`${insert} ON CONFLICT DO NOTHING`,
    selectRecord(request),
  );
  return first;
}

/** @param expected - the item of this request, which has the same fields. */
function replay<Item extends Record<string, Stored>>(
  once: Once,
  expected: Item,
  { item_id_text, item, is_same }: RecordRow,
): { id: bigint } & Item {
  if (!is_same) throw idempotencyKeyReused();
  if (item_id_text === null) {
    const { code, message } = JSON.parse(item);
    throw new ApiError(code, message);
  }
  once.isReplay = true;
  const fields: Item = parseJson(item);
  // `parseJson` makes a bigint of `3`.
  const doubles = Object.keys(expected).filter((name) => typeof expected[name] === 'number');
  const numbers = doubles.map((name) => [name, Number(fields[name])]);
  return { id: BigInt(item_id_text), ...fields, ...Object.fromEntries(numbers) };
}

export function idempotencyKeyReused(): ApiError {
  return new ApiError(
    'idempotency_key_reused',
    `This Idempotency-Key was used with another path or body within the last ${KEPT_HOURS} hours.`,
  );
}
