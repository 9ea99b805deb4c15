-- The applied migrations, and when each was applied (UTC).
SELECT name, applied_at FROM d1_migrations ORDER BY id;
