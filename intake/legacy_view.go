package intake

import (
	"cmp"
	"context"
	"slices"
	"unicode/utf8"

	"belfry"
	"belfry/engine"
)

// CreateView makes or changes a view inside a resource. The cells are those of the package view, by column.
func (in *Intake) CreateView(ctx context.Context, who engine.Sender, cells map[string]string) (code int, answer []byte, err error) {
	if err := in.admitRows(ctx, who.Customer, 1); err != nil {
		return 0, nil, err
	}
	pt, err := in.packageType("view")
	if err != nil {
		return 0, nil, err
	}
	b, c := &packageBody{pt: pt, who: who, mustPlace: true}, &chunk{rows: 1}
	if bad := b.single(c, cells); bad != nil {
		c.rejected.add(1, 1, bad)
	}
	cmd := &engine.Command{Customer: who.Customer, Views: who.Views, Rows: 1, Decide: func(t *engine.Tx) error {
		b.decide(decision{t, in}, c)
		return nil
	}}
	err = in.engine.Do(cmd)
	in.countChunk(who.Customer, c, err)
	if err != nil {
		return 0, nil, err
	}
	report := &belfry.Report{}
	c.addTo(report)
	if report.Rejected > 0 {
		report = refusedOne(report.Errors[0], viewParameters)
	}
	code, answer = report.AnswerOne()
	return code, answer, nil
}

// single makes a row of cells. All of what identifies a view must be there.
func (b *packageBody) single(c *chunk, cells map[string]string) *belfry.RowError {
	for _, column := range []string{"resname", "class", "name", "view"} {
		if cells[column] == "" || column == "class" && blank([]byte(cells[column])) {
			return belfry.Rejectf(column, belfry.MissingValue, "%s is empty; a view needs resname, c, v and p", cmp.Or(viewParameters[column], column))
		}
	}
	var header, fields [][]byte
	for _, column := range b.pt.Columns() {
		if v, ok := cells[column]; ok {
			header, fields = append(header, []byte(column)), append(fields, []byte(v))
		}
	}
	if slices.ContainsFunc(fields, func(f []byte) bool { return !utf8.Valid(f) }) {
		return badEncoding()
	}
	if err := b.setHeader(header, len(header)); err != nil {
		return belfry.Rejectf("", belfry.BadRow, "%s", err.Error())
	}
	if bad := b.check(fields); bad != nil {
		return bad
	}
	c.undecided.add(1, 1, viewRow, -1, fields)
	return nil
}
