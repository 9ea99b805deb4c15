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

-- An order of an animal.
CREATE TABLE orders (
  -- AUTOINCREMENT, as for pets.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- The animal. Not a foreign key: a delivered or cancelled order outlives its animal.
  pet_id INTEGER NOT NULL,
  -- placed -> approved -> delivered; placed or approved -> cancelled (src/orders/queries.ts).
  status TEXT NOT NULL DEFAULT 'placed'
    CHECK (status IN ('placed', 'approved', 'delivered', 'cancelled')),
  -- RFC 3339, in UTC, with milliseconds.
  placed_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

-- As pets_by_status.
CREATE INDEX orders_by_status ON orders (status);

-- At most one order of an animal is open at any time. Also finds it.
CREATE UNIQUE INDEX open_orders_by_pet ON orders (pet_id) WHERE status IN ('placed', 'approved');

-- The answer to a create that carried an Idempotency-Key, so that a retry gets the same one. Written in
-- the transaction that inserts the row: there is no moment between the two. A delete has a record as well,
-- so that the service's own retry knows that it was carried out.
CREATE TABLE idempotency_keys (
  -- The scope of the key: the client and the operation (scopeOf in src/idempotency/header.ts). The client is
  -- the id of the API key, or of the first key that was rotated into it.
  key_id TEXT NOT NULL,
  -- The header's value, without quotes.
  idempotency_key TEXT NOT NULL,
  -- Milliseconds since 1970. Good for 24 hours; a scheduled handler removes older ones.
  created_at INTEGER NOT NULL,
  -- SHA-256 of the validated body: the same key with another body is refused.
  body_hash TEXT NOT NULL,
  -- The body of the 201, as it was sent.
  answer TEXT NOT NULL,
  -- The request that was answered first. Any other that gets this answer gets a replay.
  request_id TEXT NOT NULL,
  PRIMARY KEY (key_id, idempotency_key)
) STRICT, WITHOUT ROWID;

-- For the scheduled handler.
CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at);
