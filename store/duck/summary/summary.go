// Package summary knows which hours and days of a collection have been summarised, and writes the SQL that does it.
//
// Summaries have files of their own beside the rows, one for each month:
//
//	DIR/objectdata/2026-11-15.duckdb ──► DIR/objectdata.hour/2026-11.duckdb ──► DIR/objectdata.day/2026-11.duckdb
//
// Rows are only ever added to a file, so the summary of an hour is up to date if it was made from this file and of as many rows as the
// hour has. The table made of the file of summaries records both, in the transaction that writes the summary: the number of rows, and the
// origin, which identifies the contents of the file of rows (see Origin). The rows of an hour are counted once; Append then keeps the
// count. Nothing else is remembered: after a crash, a late row or the replacement of a lost file the hour is simply out of date.
//
// If the rows of an hour are gone, its summary stays. Once the hour has rows again, its summary is made from them.
//
// A query reads the summaries that are up to date and aggregates the rest from rows, so its answer does not depend on how far
// summarising has come. Before rows are dropped, their hours and days are brought up to date.
package summary
