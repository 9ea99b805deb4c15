-- Generates statements that raise the largest id of each table to today's, because a restore lowers it and ids are never reused.
SELECT
  'DELETE FROM sqlite_sequence WHERE name = ' || quote(name) || ' AND seq < ' || seq || '; ' ||
  'INSERT INTO sqlite_sequence (name, seq) SELECT ' || quote(name) || ', ' || seq ||
  ' WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ' || quote(name) || ');' AS sql
FROM sqlite_sequence;
