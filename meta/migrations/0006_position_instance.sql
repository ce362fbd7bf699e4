-- The instance once more, in the row that every change of items and documents writes. So a write-ahead log has it in a page of its
-- own, and one of another database is recognised before it is taken in.
ALTER TABLE position ADD COLUMN instance TEXT NOT NULL DEFAULT '';
UPDATE position SET instance = COALESCE((SELECT id FROM instance), '');
