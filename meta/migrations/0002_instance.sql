-- One row once it is known: the instance to which the database belongs. The data folder, the journal and the rows have the
-- same id in a file.
CREATE TABLE instance (
	one @KEY@,
	id  TEXT NOT NULL
);
