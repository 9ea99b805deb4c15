/**
 * The statements of a create. With an idempotency key they insert one row, however many concurrent or repeated requests have
 * the key, because D1 executes them in one transaction, and transactions one after another.
 *
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header
 */
import type { Statements } from './execute.ts';
import type { Table } from './page.ts';
import { type Sql, sql } from './sql.ts';

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

/** A row that a create inserted: its id in decimal, and its JSON, which is the body of the response. */
export type CreatedRow = { id: string; body: string };

/** The stored response to the first request with an idempotency key. */
type FirstResponse = CreatedRow & { body_hash: string };

/** The statements of `keyedCreate`, beside those of the query's `before`. */
type Surrounding = {
  /** Removes the record of the key if it is older than a day. */
  expired: Sql;
  /** Inserts the row, unless the key has a record. */
  created: Sql<CreatedRow>;
  /** Stores the response, if a row was inserted. */
  stored: Sql;
  /** Reads the response to the first request with the key. */
  firstResponse: Sql<FirstResponse>;
};

/** The parts of a create. `insert` inserts at most one row into `table`. */
export type Create<Before extends Statements> = {
  table: Table;
  /** Statements that run before `insert`. The compiler rejects the names of `Surrounding`. */
  before: Before & { [Name in keyof Surrounding]?: never };
  /** An INSERT without RETURNING. */
  insert: Sql;
};

/**
 * The query of a create. `keyIsUnused` is an SQL condition: the idempotency key has no record. The statement that decides
 * whether a row is created must have it.
 */
export type CreateQuery<Body, Before extends Statements> = (
  keyIsUnused: Sql,
  body: Body,
) => Create<Before>;

/** The statements of a create without an idempotency key. */
export function plainCreate<Body, Before extends Statements>(
  query: CreateQuery<Body, Before>,
  body: Body,
): Before & Pick<Surrounding, 'created'> {
  const { table, before, insert } = query(sql`TRUE`, body);
  return { ...before, created: returningRow(insert, table) };
}

/** The statements of a create with an idempotency key. Each depends on those before it. */
export function keyedCreate<Body, Before extends Statements>(
  query: CreateQuery<Body, Before>,
  body: Body,
  { keyHash, bodyHash }: RequestHashes,
): Before & Surrounding {
  const keyIsUnused = sql`NOT EXISTS (SELECT 1 FROM idempotency_keys WHERE key_hash = ${keyHash})`;
  const { table, before, insert } = query(keyIsUnused, body);
  const now = Date.now();
  return {
    expired: sql`DELETE FROM idempotency_keys
      WHERE key_hash = ${keyHash} AND created_at <= ${now - KEPT_MS}`,
    ...before,
    created: returningRow(insert, table),
    // last_insert_rowid() and changes() are those of `created`.
    stored: sql`INSERT INTO idempotency_keys (key_hash, created_at, body_hash, response)
      SELECT ${keyHash}, ${now}, ${bodyHash}, ${table.json}
      FROM ${table.name} WHERE id = last_insert_rowid() AND changes() = 1`,
    firstResponse: sql<FirstResponse>`
      SELECT CAST(json_extract(response, '$.id') AS TEXT) AS id, response AS body, body_hash
      FROM idempotency_keys WHERE key_hash = ${keyHash}`,
  };
}

function returningRow(insert: Sql, { json }: Table): Sql<CreatedRow> {
  return sql`${insert} RETURNING CAST(id AS TEXT) AS id, ${json} AS body`;
}
