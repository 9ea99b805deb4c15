/** Sample data: many animals, added to a database in few statements. */
import { setTimeout as pause } from 'node:timers/promises';

/** Rows per statement: so few that a running store is locked for milliseconds only. */
const CHUNK = 2_000;

/**
 * Adds `count` animals. Their statuses cycle through available, pending, sold, none. D1 binds numbers as REAL, so without
 * the CAST the first name would be `Animal 1.0`.
 */
export async function addPets(db: D1Database, count: number): Promise<void> {
  const insertion = db.prepare(
    `INSERT INTO pets (name, category_id, status)
     WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < ?1)
     SELECT 'Animal ' || (i + CAST(?2 AS INTEGER)), i % 100,
       CASE i % 4 WHEN 1 THEN 'available' WHEN 2 THEN 'pending' WHEN 3 THEN 'sold' END
     FROM number`,
  );
  for (let done = 0; done < count; done += CHUNK) {
    await runWhenUnlocked(insertion.bind(Math.min(CHUNK, count - done), done));
  }
}

/**
 * Repeats a statement for about ten seconds while another process has a transaction: the local D1 then fails at once, and writes
 * nothing.
 */
async function runWhenUnlocked(insertion: D1PreparedStatement): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await insertion.run();
      return;
    } catch (error) {
      if (attempt === 500 || !String(error).includes('SQLITE_BUSY')) throw error;
    }
    await pause(20);
  }
}
