/** Sample data: many pets, and orders of them, added to a database in few statements. */
import { setTimeout as pause } from 'node:timers/promises';

/** Rows per statement. Few enough that a running store waits for milliseconds only. */
const CHUNK = 2_000;

/** Adds `count` animals. Their statuses cycle through available, pending, sold, none. */
export async function addPets(db: D1Database, count: number): Promise<void> {
  const insertion = db.prepare(
    `INSERT INTO pets (name, category_id, status)
     WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < ?1)
     SELECT 'Animal ' || (i + CAST(?2 AS INTEGER)), i % 100,
       CASE i % 4 WHEN 1 THEN 'available' WHEN 2 THEN 'pending' WHEN 3 THEN 'sold' END
     FROM number`,
  );
  for (let done = 0; done < count; done += CHUNK)
    await runWhenUnlocked(insertion.bind(Math.min(CHUNK, count - done), done));
}

/**
 * Adds `count` orders: one for each animal, the newest first, then again from the newest. Animals do not change. The
 * status of an order matches that of its animal: open (placed or approved) for a pending animal without an open order,
 * delivered for a sold animal, cancelled for any other.
 *
 * @throws Error when there are no animals.
 */
export async function addOrders(db: D1Database, count: number): Promise<void> {
  const insertion = db.prepare(
    `INSERT INTO orders (pet_id, status)
     SELECT id, CASE
       WHEN status = 'sold' THEN 'delivered'
       WHEN status = 'pending' AND NOT EXISTS (
         SELECT 1 FROM orders WHERE pet_id = pets.id AND status IN ('placed', 'approved'))
         THEN iif(id / 4 % 2 = 0, 'placed', 'approved')
       ELSE 'cancelled' END
     FROM pets WHERE ?1 IS NULL OR id < CAST(?1 AS INTEGER)
     ORDER BY id DESC LIMIT CAST(?2 AS INTEGER)
     RETURNING CAST(pet_id AS TEXT) AS pet`,
  );
  let last: string | undefined;
  for (let done = 0; done < count; ) {
    const chunk = Math.min(CHUNK, count - done);
    const rows = await runWhenUnlocked<{ pet: string }>(insertion.bind(last ?? null, chunk));
    if (rows.length === 0 && !last) throw new Error('there are no animals to order: --pets N');
    last = rows.at(-1)?.pet;
    done += rows.length;
  }
}

/** The local D1 does not wait for another process's transaction: it fails, and nothing was written. */
async function runWhenUnlocked<Row>(query: D1PreparedStatement, attempts = 500): Promise<Row[]> {
  try {
    return (await query.all<Row>()).results;
  } catch (error) {
    if (attempts === 1 || !String(error).includes('SQLITE_BUSY')) throw error;
  }
  await pause(20);
  return runWhenUnlocked(query, attempts - 1);
}
