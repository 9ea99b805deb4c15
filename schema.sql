-- The database schema after all migrations, with comments. Stores run only the migrations. A test applies them to an
-- empty database and compares the result with this file.
--
-- There is no CHECK, because D1 cannot change or remove one in place: with a list of statuses in the database, a migration
-- that adds a status would have to rebuild the table. The schemas of the operations (zod) validate what requests write. Of rows that are changed by hand, the database
-- checks only types, NOT NULL and unique indexes.

-- A pet. STRICT: SQLite rejects values of another type, so an int64 is never stored as a rounded REAL.
CREATE TABLE pets (
  -- AUTOINCREMENT: ids ascend and are never reused, even after the newest row is deleted. Pages and links
  -- rely on this.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- src/pets/schemas.ts has the rules.
  name TEXT NOT NULL,
  -- Any int64: there is no table of categories.
  category_id INTEGER NOT NULL,
  -- NULL: no status. No status filter matches such a pet.
  status TEXT
) STRICT;

-- Makes `WHERE status = ? AND id > ? ORDER BY id` one range scan: an index entry ends with the rowid, which is the id.
CREATE INDEX pets_by_status ON pets (status);

-- An order of a pet.
CREATE TABLE orders (
  -- AUTOINCREMENT: as for pets.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Not a foreign key: a delivered or cancelled order remains after its pet is deleted.
  pet_id INTEGER NOT NULL,
  -- placed -> approved -> delivered; placed or approved -> cancelled (src/orders/transitions.ts).
  status TEXT NOT NULL DEFAULT 'placed',
  -- RFC 3339 in UTC, with milliseconds.
  placed_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

-- The same range scan for orders.
CREATE INDEX orders_by_status ON orders (status);

-- Allows at most one open order for each pet, which updatePet and deletePet look for.
CREATE UNIQUE INDEX open_orders_by_pet ON orders (pet_id) WHERE status IN ('placed', 'approved');

-- What creates with an Idempotency-Key have responded, so that a retry gets the first response. One transaction writes
-- the record and the created pet or order, or reads why it is refused and writes the record. Not WITHOUT ROWID: in such a table, a response of a kilobyte would take an
-- overflow page of its own.
CREATE TABLE idempotency_keys (
  -- Ascends with time, as a new id is the largest + 1. The scheduled handler deletes expired records from the lowest id
  -- on. No AUTOINCREMENT: nothing refers to a record, so its id may be used again after it is deleted.
  id INTEGER PRIMARY KEY,
  -- SHA-256 of the client, the operation and the Idempotency-Key: a long key takes no more space.
  key_hash BLOB NOT NULL UNIQUE,
  -- Milliseconds since 1970.
  created_at INTEGER NOT NULL,
  -- SHA-256 of the validated path, query and body: the same key with another one is a 422.
  request_hash BLOB NOT NULL,
  -- The id in the first response. NULL if the create was refused.
  item_id INTEGER,
  -- The other fields of the first response, as JSON: those of the item, or of the Error.
  item TEXT NOT NULL
) STRICT;
