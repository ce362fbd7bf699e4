// Package index keeps Bloom filters beside the files of rows, so that a query reads only what may match. There are two kinds:
//
//	DAY.duckdb.tokens   for each block of rows: the words in its texts, with the times and ids of its rows
//	DAY.duckdb.items    one block: the items that have rows in the file
//
// A filter only saves work. It is built from rows that are durable, is not synced itself, and ends in checksums: what is damaged is
// ignored, cut off and built again. A filter may say that something is there which is not, never the other way round.
package index
