-- Deletes every record of idempotency keys, with the responses that they keep.
DELETE FROM idempotency_keys;
