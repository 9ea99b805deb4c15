/**
 * Runs a create: within a day, once for each `Idempotency-Key`.
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header
 */
import type { Context } from 'hono';
import type { AuthenticatedEnv } from '../context.ts';
import { type Sql, sql } from '../d1/sql.ts';
import type { Create, CreatedRow } from '../d1/table.ts';
import { ApiError } from '../errors.ts';
import { runQueries } from '../http/run-queries.ts';
import { sha256 } from '../sha256.ts';

/** How long the record of an idempotency key is valid, in hours and in milliseconds. */
export const KEPT_HOURS = 24;
export const KEPT_MS = KEPT_HOURS * 3_600_000;

/**
 * Carries out a create in one transaction. A handler calls it once, because a second call would have the same key. Its statements, in their order:
 *
 *     with a key   expiredRemoved, record   the record of the key, if an earlier request has inserted a row
 *                  reserved, read           the reservation, if the create has one
 *                  inserted, created        the new row
 *     with a key   recorded                 the new row as the record of the key
 *
 * If the key has a record, a retry writes nothing, and gets the first response again, with `Idempotency-Replayed: true`. The last
 * guard is the unique `key_hash`: with two records of a key, the transaction would fail.
 *
 * @returns `created`, the new row or the one to replay, if there is one; and the first row of the `read` of a reservation.
 * @throws ApiError 422 when the request to replay had another body; and the errors of `runQueries`.
 */
export async function createOnce<Body, Item, Row>(
  c: Context<AuthenticatedEnv>,
  query: (body: Body) => Create<Item, Row>,
  body: Body,
): Promise<{ created: CreatedRow<Item> | undefined; read?: Row | undefined }> {
  const { name, idAndJson, target, values, onConflict, reserve } = query(body);
  // changes() is the number of rows that the last write has changed. A SELECT does not reset it:
  // https://sqlite.org/lang_corefunc.html#changes
  const insertIf = (condition: Sql) => ({
    ...(reserve && {
      reserved: sql`${reserve.update} WHERE (${reserve.where}) AND ${condition}`,
      // Within a SELECT, SQLite rejects a write.
      read: sql<Row>`SELECT * FROM (${reserve.read})`,
    }),
    inserted: sql`INSERT INTO ${target} SELECT ${values}
      WHERE ${reserve ? sql`changes() > 0` : condition} ${onConflict}`,
    // If nothing was inserted, the CASE is NULL, and no row is read. `AND changes() = 1` would read one.
    created: sql<CreatedRow<Item>>`SELECT ${idAndJson} FROM ${name}
      WHERE id = CASE changes() WHEN 1 THEN last_insert_rowid() END`,
  });
  const { idempotencyKey, client, definition } = c.var;
  if (idempotencyKey === undefined) {
    // One statement. After VALUES, RETURNING reads a row less than after SELECT.
    const created = sql<CreatedRow<Item>>`INSERT INTO ${target} VALUES (${values}) ${onConflict}
      RETURNING ${idAndJson}`;
    return runQueries(c, reserve ? insertIf(sql`TRUE`) : { created });
  }
  // The same key of another client or operation is another key.
  const keyHash = await sha256(JSON.stringify([client.id, definition.operationId, idempotencyKey]));
  // zod outputs the fields in the order of the schema, so their order in the request does not matter.
  const bodyHash = await sha256(
    JSON.stringify(body, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)),
  );
  const now = Date.now();
  const fromRecord = sql`FROM idempotency_keys WHERE key_hash = ${keyHash}`;
  const insert = insertIf(sql`NOT EXISTS (SELECT 1 ${fromRecord})`);
  const rows = await runQueries(c, {
    expiredRemoved: sql`DELETE ${fromRecord} AND created_at <= ${now - KEPT_MS}`,
    record: sql<CreatedRow<Item> & { body_hash: string }>`
      SELECT CAST(response ->> 'id' AS TEXT) AS id, response AS json, body_hash ${fromRecord}`,
    ...insert,
    recorded: sql`INSERT INTO idempotency_keys (key_hash, created_at, body_hash, response)
      SELECT ${keyHash}, ${now}, ${bodyHash}, json FROM (${insert.created})`,
  });
  const { record } = rows;
  if (!record) return rows;
  if (record.body_hash !== bodyHash) throw idempotencyKeyReused();
  c.header('Idempotency-Replayed', 'true');
  return { created: record };
}

export function idempotencyKeyReused(): ApiError {
  return new ApiError(
    'idempotency_key_reused',
    `This Idempotency-Key was used with another body within the last ${KEPT_HOURS} hours.`,
  );
}
