-- Generates the lines of an export that hold animals with integers beyond 2^53. An export rounds these, and here they are exact.
SELECT
  'INSERT INTO "pets" ("id","name","category_id","status") VALUES(' ||
  id || ',' || quote(name) || ',' || category_id || ',' || quote(status) || ');' AS sql
FROM pets
WHERE category_id NOT BETWEEN -9007199254740992 AND 9007199254740992;
