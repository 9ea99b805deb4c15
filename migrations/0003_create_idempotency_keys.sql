CREATE TABLE idempotency_keys (
  id INTEGER PRIMARY KEY,
  key_hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  body_hash TEXT NOT NULL,
  response TEXT NOT NULL
) STRICT;
