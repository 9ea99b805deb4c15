-- What the database looks like when every file of migrations/ has been applied: a picture for
-- readers. The migrations are what runs; a test applies them to an empty database and compares.

-- An animal. STRICT: SQLite stores what the column says or refuses it, so that an int64 is never
-- kept as a rounded REAL.
CREATE TABLE pets (
  -- AUTOINCREMENT: ids ascend and are never used again, even after the newest row was deleted.
  -- Paging (keyset by id) and links that clients keep rely on it.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- 1 to 255 Unicode code points, checked by the service (src/pets/schema.ts).
  name TEXT NOT NULL,
  -- Any int64. There is no table of categories.
  category_id INTEGER NOT NULL,
  -- NULL: created without a status. Such an animal is found by no status filter.
  status TEXT CHECK (status IN ('available', 'pending', 'sold'))
) STRICT;

-- Serves `WHERE status = ? AND id >= ? ORDER BY id` as one range: an index entry ends in the rowid,
-- which is the id.
CREATE INDEX pets_by_status ON pets (status);
