-- How many transactions there were, and how many of them were in the database file when its whole log was moved into it last. A log with
-- this row does not belong to a file with fewer.
ALTER TABLE position ADD COLUMN writes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE position ADD COLUMN moved BIGINT NOT NULL DEFAULT 0;
UPDATE position SET sum = NULL;
