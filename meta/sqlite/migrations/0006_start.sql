-- What exists, as the journal's records left it. The text is for SQLite and PostgreSQL alike: sizes are those of
-- PostgreSQL (SQLite takes any), ids come from the program, times are microseconds since 1970 in UTC.
--
-- The one difference is marked @KEY@, the primary key of a table that is found by one number. SQLite is fastest when
-- it is spelled INTEGER, which is the table's own order there; in PostgreSQL that would be 32 bits, and it is BIGINT.

-- One row: how far the journal has been taken in here and by the row store, and the first item id that was never used.
-- It also has the instance, as every transaction writes this row. So a write-ahead log has it in a page of
-- its own, and one of another database is recognised before it is taken in.
CREATE TABLE position (
	one       @KEY@,
	pos       BIGINT NOT NULL,
	rows      BIGINT NOT NULL,
	next_item BIGINT NOT NULL,
	instance  TEXT   NOT NULL DEFAULT '',
	branch    TEXT   NOT NULL DEFAULT ''
);
INSERT INTO position (one, pos, rows, next_item) VALUES (1, 0, 0, 1);

-- pos is the record that wrote the item. A replay must not put back what an older record said: were it interrupted,
-- an item that has been removed would exist again, beside another one that has got its name since.
CREATE TABLE item (
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
	removed  BIGINT   NOT NULL, -- 0 while it exists
	details  TEXT     NOT NULL, -- JSON, or empty
	number   BIGINT   NOT NULL DEFAULT 0 -- among the items of its customer, in the order of creation; answers identify it by this
);

-- Items that have been removed, as long as there can be rows about them. They have a table of their own so that a start
-- reads nothing of them. An id that is here is never in item again: a replay leaves out what is removed.
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
	ended    BIGINT   NOT NULL, -- no row about it has a later time; 0 when there are none, as of graphical elements
	number   BIGINT   NOT NULL DEFAULT 0
);
CREATE INDEX removed_name ON removed (customer, name);
CREATE INDEX removed_time ON removed (customer, removed);
CREATE INDEX removed_resource ON removed (resource);
CREATE INDEX removed_pos ON removed (pos);
CREATE INDEX removed_ended ON removed (ended);

-- The last known state of an item. It may be newer than position.pos: pos says how new.
CREATE TABLE state (
	item @KEY@,
	pos  BIGINT NOT NULL,
	body BYTEA  NOT NULL
);

CREATE TABLE doc (
	kind     TEXT   NOT NULL,
	customer BIGINT NOT NULL,
	name     TEXT   NOT NULL,
	body     BYTEA  NOT NULL,
	PRIMARY KEY (kind, customer, name)
);

CREATE TABLE answer (
	customer BIGINT   NOT NULL,
	key      TEXT     NOT NULL,
	request  BYTEA    NOT NULL,
	status   SMALLINT NOT NULL,
	body     BYTEA    NOT NULL,
	time     BIGINT   NOT NULL,
	PRIMARY KEY (customer, key)
);
CREATE INDEX answer_time ON answer (time);

CREATE TABLE customer_counter (
	customer @KEY@,
	next_row BIGINT NOT NULL
);

-- The highest number that was given to an item, also to items that are gone altogether.
CREATE TABLE item_counter (
	customer @KEY@,
	highest  BIGINT NOT NULL
);

-- One row once it is known: the instance to which the database belongs. The data folder, the journal and the rows have the
-- same id in a file.
CREATE TABLE instance (
	one @KEY@,
	id  TEXT NOT NULL
);
