CREATE TABLE orders (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  pet_id INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'placed',
  placed_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

CREATE INDEX orders_by_status ON orders (status);

CREATE UNIQUE INDEX open_orders_by_pet ON orders (pet_id) WHERE status IN ('placed', 'approved');
