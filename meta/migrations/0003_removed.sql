-- Items that have been removed, as long as there can be rows about them. They have a table of their own so that a start
-- reads nothing of them. An id that is here is never in item again, but for a moment after a crash: a record that is met
-- again may put it back until the record that removed it is met again, too.
CREATE TABLE removed (
	id       @KEY@,
	pos      BIGINT   NOT NULL,
	customer BIGINT   NOT NULL,
	kind     SMALLINT NOT NULL,
	name     TEXT     NOT NULL,
	parent   BIGINT   NOT NULL,
	resource BIGINT   NOT NULL,
	class    TEXT     NOT NULL,
	package  TEXT     NOT NULL,
	created  BIGINT   NOT NULL,
	removed  BIGINT   NOT NULL,
	details  TEXT     NOT NULL,
	ended    BIGINT   NOT NULL -- no row about it has a later time; 0 when there are none, as of graphical elements
);
CREATE INDEX removed_name ON removed (customer, name);
CREATE INDEX removed_time ON removed (customer, removed);
CREATE INDEX removed_resource ON removed (resource);
CREATE INDEX removed_pos ON removed (pos);
CREATE INDEX removed_ended ON removed (ended);

INSERT INTO removed SELECT id, pos, customer, kind, name, parent, resource, class, package, created, removed, details,
	CASE kind WHEN 4 THEN 0 ELSE removed END FROM item WHERE removed > 0;
DELETE FROM state WHERE item IN (SELECT id FROM removed);
DELETE FROM item WHERE removed > 0;
