package query_test

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"belfry"
	"belfry/query/querytest"
)

// TestIndicatorOrder compares an indicator with each value in every spelling and checks the rule: texts compare with quoted
// values by their bytes, numbers with values that are numbers. A value of the other kind is neither below nor above.
func TestIndicatorOrder(t *testing.T) {
	cat := load(t)
	values := []string{"-1", "0.5", "1", "5", "9", "10", "1e1", " 9", "9a", "A", "ok", "z"}
	var rows []belfry.Value
	for _, v := range values {
		rows = append(rows, belfry.Value{Type: belfry.TextValue, Text: v})
		if n, err := strconv.ParseFloat(v, 64); err == nil {
			rows = append(rows, belfry.Value{Type: belfry.NumberValue, Num: n})
		}
	}
	rows = append(rows, belfry.Value{})
	order := func(row belfry.Value, value string, quoted bool) (c int, comparable bool) {
		n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		switch row.Type {
		case belfry.TextValue:
			return strings.Compare(row.Text, value), quoted
		case belfry.NumberValue:
			return cmp.Compare(row.Num, n), err == nil
		}
		return 0, false
	}
	above := func(row belfry.Value, value string, quoted bool) bool {
		c, ok := order(row, value, quoted)
		return ok && c >= 0
	}
	below := func(row belfry.Value, value string, quoted bool) bool {
		c, ok := order(row, value, quoted)
		return ok && c <= 0
	}
	check := func(condition string, want func(row belfry.Value) bool) {
		t.Helper()
		p := plan(t, cat, "SELECT id FROM objectdata WHERE "+condition+" LIMIT 1")
		for _, row := range rows {
			if got := p.Matches(querytest.Row{"i2": row}); got != want(row) {
				t.Errorf("%s is %v of %v %q", condition, got, row.Type, row)
			}
		}
	}
	for _, a := range values {
		for op, holds := range map[string]func(int) bool{
			"<":  func(c int) bool { return c < 0 },
			"<=": func(c int) bool { return c <= 0 },
			">":  func(c int) bool { return c > 0 },
			">=": func(c int) bool { return c >= 0 },
		} {
			for _, quoted := range []bool{true, false} {
				literal := a
				if quoted {
					literal = "'" + a + "'"
				} else if _, err := strconv.ParseFloat(a, 64); err != nil {
					continue
				}
				check("i2 "+op+" "+literal, func(row belfry.Value) bool {
					c, ok := order(row, a, quoted)
					return ok && holds(c)
				})
			}
		}
		for _, b := range values {
			inside := func(row belfry.Value) bool { return above(row, a, true) && below(row, b, true) }
			check(fmt.Sprintf("i2 BETWEEN '%s' AND '%s'", a, b), inside)
			_, errA := strconv.ParseFloat(strings.TrimSpace(a), 64)
			_, errB := strconv.ParseFloat(strings.TrimSpace(b), 64)
			numbers := errA == nil && errB == nil
			found := func(row belfry.Value) bool { // in Lucene numbers only, or texts only
				return inside(row) && (row.Type == belfry.NumberValue) == numbers
			}
			check(fmt.Sprintf(`_query_ = 'i2:["%s" TO "%s"]'`, a, b), found)
			if !strings.Contains(a+b, " ") {
				check(fmt.Sprintf(`_query_ = 'i2:[%s TO %s]'`, a, b), found)
			}
		}
	}
}
