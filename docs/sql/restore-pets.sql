-- Generates statements that restore animals. Integers beyond 2^53 stay exact.
SELECT
  'INSERT OR REPLACE INTO pets (id, name, category_id, status) VALUES (' ||
  id || ', ' || quote(name) || ', ' || category_id || ', ' || quote(status) || ');' AS sql
FROM pets
WHERE id IN (<ids>);
