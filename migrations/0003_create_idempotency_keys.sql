CREATE TABLE idempotency_keys (
  id INTEGER PRIMARY KEY,
  client TEXT NOT NULL,
  operation TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  body_hash TEXT NOT NULL,
  request_id TEXT NOT NULL,
  response TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX idempotency_keys_by_key
  ON idempotency_keys (client, operation, idempotency_key);
