-- A checksum of the other columns of the row, which the program computes when it writes the row and compares when it reads it; see
-- checksum.go. The program computes it for the rows that are here already.
ALTER TABLE position ADD COLUMN sum BIGINT;
ALTER TABLE item ADD COLUMN sum BIGINT;
ALTER TABLE removed ADD COLUMN sum BIGINT;
ALTER TABLE state ADD COLUMN sum BIGINT;
ALTER TABLE doc ADD COLUMN sum BIGINT;
ALTER TABLE answer ADD COLUMN sum BIGINT;
ALTER TABLE customer_counter ADD COLUMN sum BIGINT;
ALTER TABLE item_counter ADD COLUMN sum BIGINT;
ALTER TABLE instance ADD COLUMN sum BIGINT;
