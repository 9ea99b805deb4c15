-- The animals whose integers an export rounds.
SELECT id FROM pets WHERE category_id NOT BETWEEN -9007199254740992 AND 9007199254740992;
