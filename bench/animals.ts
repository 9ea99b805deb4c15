/** Many animals in a database, in little time. */

/** Added by one statement: so few that a store that is served meanwhile waits for milliseconds. */
const CHUNK = 2_000;
/** Before a statement is tried again that met another process's write; in ms. */
const PAUSE_MS = 20;
const MAX_ATTEMPTS = 500;

/**
 * Adds `count` animals, whose statuses take turns: available, pending, sold, none. `onProgress` is told how many
 * were added since it was told last.
 */
export async function addPets(
  db: D1Database,
  count: number,
  onProgress: (added: number) => void = () => {},
): Promise<void> {
  for (let done = 0; done < count; done += CHUNK) {
    const chunk = Math.min(CHUNK, count - done);
    const statement = db
      .prepare(
        `INSERT INTO pets (name, category_id, status)
         WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < ?1)
         SELECT 'Animal ' || (i + ?2), i % 100,
           CASE i % 4 WHEN 1 THEN 'available' WHEN 2 THEN 'pending' WHEN 3 THEN 'sold' END
         FROM number`,
      )
      .bind(chunk, done);
    await runWhenUnlocked(statement);
    onProgress(chunk);
  }
}

/** The local D1 does not wait for another process's transaction: it fails, and nothing was written. */
async function runWhenUnlocked(statement: D1PreparedStatement): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await statement.run();
      return;
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !String(error).includes('SQLITE_BUSY')) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
