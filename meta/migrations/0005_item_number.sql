-- The number of an item among those of its customer, in the order of creation, by which answers identify it. It was
-- counted anew at every start, so it changed when items before it had been removed.
ALTER TABLE item ADD COLUMN number BIGINT NOT NULL DEFAULT 0;
ALTER TABLE removed ADD COLUMN number BIGINT NOT NULL DEFAULT 0;
UPDATE item SET number = n.number FROM (
	SELECT id, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY id) AS number
	FROM (SELECT id, customer FROM item UNION ALL SELECT id, customer FROM removed) AS every
) AS n WHERE n.id = item.id;
UPDATE removed SET number = n.number FROM (
	SELECT id, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY id) AS number
	FROM (SELECT id, customer FROM item UNION ALL SELECT id, customer FROM removed) AS every
) AS n WHERE n.id = removed.id;

-- The highest number that was given, also to items that are gone altogether.
CREATE TABLE item_counter (
	customer @KEY@,
	highest  BIGINT NOT NULL
);
INSERT INTO item_counter SELECT customer, COUNT(*) FROM (SELECT customer FROM item UNION ALL SELECT customer FROM removed) AS every GROUP BY customer;
