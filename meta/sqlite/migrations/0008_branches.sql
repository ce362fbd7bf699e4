-- The starts of the service, oldest first. The file branches in the data folder has them, too; see belfry.Branches.
CREATE TABLE branch (
	n     @KEY@,
	id    TEXT   NOT NULL,
	since BIGINT NOT NULL,
	sum   BIGINT
);
