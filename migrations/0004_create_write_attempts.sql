CREATE TABLE write_attempts (
  id INTEGER PRIMARY KEY,
  request_id TEXT NOT NULL UNIQUE,
  attempt INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  response TEXT
) STRICT;
