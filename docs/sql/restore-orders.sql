-- Generates statements that restore the orders of animals. Without OR REPLACE, which would delete a newer open order.
SELECT
  'INSERT INTO orders (id, pet_id, status, placed_at) VALUES (' ||
  id || ', ' || pet_id || ', ' || quote(status) || ', ' || quote(placed_at) ||
  ') ON CONFLICT (id) DO UPDATE SET status = excluded.status;' AS sql
FROM orders
WHERE pet_id IN (<ids>);
