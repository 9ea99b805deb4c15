/**
 * The statements of a create. Within a day, all requests with one idempotency key insert at most one row: D1 executes the
 * statements of a request in one transaction, and one transaction at a time.
 *
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header
 */
import type { Statements } from '../d1/execute.ts';
import type { Table } from '../d1/page.ts';
import { type Sql, sql } from '../d1/sql.ts';

/** How long the record of an idempotency key is valid, in hours and in milliseconds. */
export const KEPT_HOURS = 24;
export const KEPT_MS = KEPT_HOURS * 3_600_000;

/** Hashes that tell whether two requests are the same. */
export type RequestHashes = {
  /** SHA-256 of the client, the operation and the idempotency key. */
  keyHash: string;
  /** SHA-256 of the validated body. */
  bodyHash: string;
};

/** A row that a create inserted: its id in decimal, and its JSON. */
export type CreatedRow = { id: string; json: string };

/** The stored response of an idempotency key: that of the first request that inserted a row. */
type FirstResponse = CreatedRow & { body_hash: string };

/** The parts of a create. `insert` inserts at most one row into `table`. */
type Create<Before extends Statements> = {
  table: Table;
  /**
   * Statements that run before `insert`. None has a name of `KeyStatements`, below: in one object, one would replace the other.
   * `never` makes the compiler refuse such a name.
   */
  before: Before & { [Name in keyof KeyStatements]?: never };
  /** An INSERT without RETURNING. */
  insert: Sql;
};

/** The statements that are added to those of a `Create`. A create without an idempotency key has only `created`. */
type KeyStatements = {
  /** Removes the record of the key if it has expired. */
  expiredRemoved: Sql;
  /** Executes `insert`, and returns its row. */
  created: Sql<CreatedRow>;
  /** Stores the response, if a row was inserted. */
  stored: Sql;
  /** Reads the stored response. */
  firstResponse: Sql<FirstResponse>;
};

/**
 * The query of a create. `keyIsUnused` is an SQL condition: the idempotency key has no record. It belongs in the WHERE of the
 * statement that decides whether a row is inserted: `insert`, or one of `before` on which `insert` depends, such as the UPDATE of
 * `placeOrder` that reserves the pet.
 */
export type CreateQuery<Body, Before extends Statements> = (
  keyIsUnused: Sql,
  body: Body,
) => Create<Before>;

/** The statements of a create without an idempotency key. */
export function plainCreate<Body, Before extends Statements>(
  query: CreateQuery<Body, Before>,
  body: Body,
): Before & Pick<KeyStatements, 'created'> {
  const { table, before, insert } = query(sql`TRUE`, body);
  return { ...before, created: returningRow(insert, table) };
}

/**
 * The statements of a create with an idempotency key. Their order matters: `keyIsUnused` reads what `expiredRemoved` leaves,
 * and `stored` must directly follow `created`.
 */
export function keyedCreate<Body, Before extends Statements>(
  query: CreateQuery<Body, Before>,
  body: Body,
  { keyHash, bodyHash }: RequestHashes,
): Before & KeyStatements {
  const keyIsUnused = sql`NOT EXISTS (SELECT 1 FROM idempotency_keys WHERE key_hash = ${keyHash})`;
  const { table, before, insert } = query(keyIsUnused, body);
  const now = Date.now();
  return {
    expiredRemoved: sql`DELETE FROM idempotency_keys
      WHERE key_hash = ${keyHash} AND created_at <= ${now - KEPT_MS}`,
    ...before,
    created: returningRow(insert, table),
    // If `created` inserted nothing, changes() is 0, and last_insert_rowid() is that of an older row.
    stored: sql`INSERT INTO idempotency_keys (key_hash, created_at, body_hash, response)
      SELECT ${keyHash}, ${now}, ${bodyHash}, ${table.json}
      FROM ${table.name} WHERE id = last_insert_rowid() AND changes() = 1`,
    firstResponse: sql<FirstResponse>`
      SELECT CAST(json_extract(response, '$.id') AS TEXT) AS id, response AS json, body_hash
      FROM idempotency_keys WHERE key_hash = ${keyHash}`,
  };
}

function returningRow(insert: Sql, { json }: Table): Sql<CreatedRow> {
  return sql`${insert} RETURNING CAST(id AS TEXT) AS id, ${json} AS json`;
}
