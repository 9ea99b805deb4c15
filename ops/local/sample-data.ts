/** Sample data: many pets, and orders of them, added to a database in few statements. */

/** Rows per statement. Few enough that a running store waits for milliseconds only. */
const CHUNK = 2_000;
/** Delay before a retry after a write conflict, in milliseconds. */
const PAUSE_MS = 20;
const MAX_ATTEMPTS = 500;

/** Receives the number of rows added since the previous call. */
type OnProgress = (added: number) => void;
const ignore: OnProgress = () => {};

/** Adds `count` animals. Their statuses cycle through available, pending, sold, none. */
export async function addPets(db: D1Database, count: number, onProgress = ignore): Promise<void> {
  const insertion = db.prepare(
    `INSERT INTO pets (name, category_id, status)
     WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < ?1)
     SELECT 'Animal ' || (i + CAST(?2 AS INTEGER)), i % 100,
       CASE i % 4 WHEN 1 THEN 'available' WHEN 2 THEN 'pending' WHEN 3 THEN 'sold' END
     FROM number`,
  );
  for (let done = 0; done < count; done += CHUNK) {
    const chunk = Math.min(CHUNK, count - done);
    await runWhenUnlocked(() => insertion.bind(chunk, done).run());
    onProgress(chunk);
  }
}

/** A page of animals, the newest first, that begins below an id. */
const PAGE =
  'FROM pets WHERE ?1 IS NULL OR id < CAST(?1 AS INTEGER) ORDER BY id DESC LIMIT CAST(?2 AS INTEGER)';

/**
 * Adds `count` orders: one for each animal, the newest first, then again from the newest. Animals do not change. The
 * status of an order matches that of its animal: open (placed or approved) for a pending animal without an open order,
 * delivered for a sold animal, cancelled for any other.
 *
 * @throws Error when there are no animals.
 */
export async function addOrders(db: D1Database, count: number, onProgress = ignore): Promise<void> {
  const selection = db.prepare(`SELECT CAST(min(id) AS TEXT) AS last FROM (SELECT id ${PAGE})`);
  const insertion = db.prepare(
    `INSERT INTO orders (pet_id, status)
     SELECT id, CASE
       WHEN status = 'sold' THEN 'delivered'
       WHEN status = 'pending' AND NOT EXISTS (
         SELECT 1 FROM orders WHERE pet_id = pets.id AND status IN ('placed', 'approved'))
         THEN iif(id / 4 % 2 = 0, 'placed', 'approved')
       ELSE 'cancelled' END
     ${PAGE}`,
  );
  let last: string | null = null;
  for (let done = 0; done < count; ) {
    const page: [string | null, number] = [last, Math.min(CHUNK, count - done)];
    const [next, added] = await runWhenUnlocked(() =>
      db.batch<{ last: string | null }>([selection.bind(...page), insertion.bind(...page)]),
    );
    const changes = added?.meta.changes ?? 0;
    if (changes === 0 && last === null) throw new Error('there are no animals to order: --pets N');
    last = next?.results[0]?.last ?? null;
    done += changes;
    onProgress(changes);
  }
}

/** The local D1 does not wait for another process's transaction: it fails, and nothing was written. */
async function runWhenUnlocked<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !String(error).includes('SQLITE_BUSY')) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
