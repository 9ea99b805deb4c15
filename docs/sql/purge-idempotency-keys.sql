-- Deletes up to 10,000 records of idempotency keys that are older than an hour.
DELETE FROM idempotency_keys
WHERE rowid IN (
  SELECT rowid FROM idempotency_keys WHERE created_at < unixepoch() * 1000 - 3600000 LIMIT 10000
);
