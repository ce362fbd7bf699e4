// Package query turns the text of a query into a plan, and a plan into an engine's SQL or into rows.
//
//	text ──Parse──► *Select ──Check──► *Plan ──┬─ SQL ──► an engine's statement with bound arguments
//	                            ▲              └─ Eval ─► rows, in plain Go
//	                         catalog
//
// Parse knows the grammar, Check the catalog. A Plan is plain data: every name in it comes from the catalog and every
// value has the type of its field, so nothing after it has to parse what a client wrote. SQL writes names from the
// catalog and passes every value as an argument: no text of a client reaches an engine. Eval serves the current
// collections and is the reference for the engines: for every plan all must agree.
//
// Two rules hold everywhere. A comparison with an absent value is false, <> included, and NOT makes it true: there is no
// third truth value. And the order of rows is always total, down to the id.
package query
