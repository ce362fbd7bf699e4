-- An item is in one of the two tables. A replay after the loss of a removal could put it back into item for good; from now on
-- it leaves out what is removed.
DELETE FROM state WHERE item IN (SELECT id FROM item WHERE id IN (SELECT id FROM removed));
DELETE FROM item WHERE id IN (SELECT id FROM removed);
