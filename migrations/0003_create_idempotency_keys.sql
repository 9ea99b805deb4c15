CREATE TABLE idempotency_keys (
  id INTEGER PRIMARY KEY,
  key_hash BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  request_hash BLOB NOT NULL,
  item_id INTEGER,
  item TEXT NOT NULL
) STRICT;
