-- Cancels the open orders of animals.
UPDATE orders SET status = 'cancelled' WHERE pet_id IN (<ids>) AND status IN ('placed', 'approved');
