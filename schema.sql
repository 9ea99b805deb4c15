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

-- The answer to a create that carried an Idempotency-Key, so that a retry gets the same one. Written in
-- the transaction that adds the animal: there is no moment between the two.
CREATE TABLE idempotency_keys (
  -- Id of the API key that the request was sent with, or of the first key that was rotated into it:
  -- clients do not share idempotency keys, and a rotation does not change their scope.
  key_id TEXT NOT NULL,
  -- The header's value, without quotes.
  idempotency_key TEXT NOT NULL,
  -- Milliseconds since 1970. Good for 24 hours; a scheduled handler removes older ones.
  created_at INTEGER NOT NULL,
  -- SHA-256 of the validated body: the same key with another body is refused.
  body_hash TEXT NOT NULL,
  -- The body of the 201, as it was sent.
  answer TEXT NOT NULL,
  -- The request that added the animal. Any other that gets this answer gets a replay.
  request_id TEXT NOT NULL,
  PRIMARY KEY (key_id, idempotency_key)
) STRICT, WITHOUT ROWID;

-- For the scheduled handler.
CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at);
