package query

import (
	"slices"
	"strconv"
	"strings"

	"belfry"
	"belfry/catalog"
)

// MaxCalls limits the number of keys and functions of a query with groups.
const MaxCalls = 1000

// keys resolves the keys of the groups: the terms of GROUP BY, or all items of SELECT DISTINCT.
func (k *checker) keys() error {
	g := &Grouping{}
	k.plan.Grouping = g
	terms := k.Group
	switch {
	case k.Star:
		return k.errorf(k.starPos(), "SELECT * does not go with groups; name the fields of GROUP BY, and functions of others")
	case k.Distinct && len(k.Group) > 0:
		return k.errorf(k.Group[0].pos(), "groups differ by themselves; leave out DISTINCT or GROUP BY")
	case k.Distinct:
		for _, item := range k.Items {
			terms = append(terms, item.Term)
		}
	}
	for _, t := range terms {
		c, err := k.key(t)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(g.Keys, c.equal) {
			g.Keys = append(g.Keys, c)
		}
		if len(g.Keys) > MaxCalls {
			return k.errorf(t.pos(), "groups have at most %d keys and functions", MaxCalls)
		}
	}
	return nil
}

func (k *checker) starPos() Pos {
	switch {
	case len(k.Group) > 0:
		return k.Group[0].pos()
	case len(k.Order) > 0:
		return k.Order[0].pos()
	}
	return 0
}

// key resolves a key: a field, TIMEBUCKET, or the name of an item given with AS.
func (k *checker) key(t Term) (Call, error) {
	if i := k.named(t); i >= 0 {
		of := k.Items[i].Term
		_, isField := k.plan.Collection.Field(t.Field.Text)
		if functions[of.Func.function()].Key || !isField {
			of.Field.Pos, of.Func.Pos = t.Field.Pos, t.Field.Pos
			t = of
		}
	}
	c, err := k.call(t)
	if err != nil {
		return c, err
	}
	if !c.isKey() {
		where := "GROUP BY"
		if k.Distinct {
			where = "SELECT DISTINCT"
		}
		return c, k.errorf(t.pos(), "%s makes its groups of fields and %s(…); %s is known only once they are made", where,
			strings.Join(namesOf(func(f *Function) bool { return f.Key }), "(…), "), c)
	}
	return c, nil
}

// named returns the index of the item with the given name after AS; -1 if there is none.
func (k *checker) named(t Term) int {
	if t.Func.Text != "" {
		return -1
	}
	if i, ok := k.itemNamed(t.Field.Text); ok {
		return i
	}
	return -1
}

// operand resolves the left side of a condition.
func (k *checker) operand(t Term) (Column, error) {
	if k.groups {
		return k.byName(t)
	}
	if _, isField := k.plan.Collection.Field(t.Field.Text); !isField && k.named(t) >= 0 {
		return Column{}, k.errorf(t.pos(), "%s is a name after AS, which WHERE does not know; use HAVING for conditions "+
			"on groups", shorten(t.Field.String()))
	}
	return k.column(t.Field)
}

// byName resolves a term of HAVING or ORDER BY, where names given with AS precede fields.
func (k *checker) byName(t Term) (Column, error) {
	if i := k.named(t); i >= 0 {
		return k.plan.Outputs[i].Column, nil
	}
	_, isField := k.plan.Collection.Field(t.Field.Text)
	if t.Func.Text == "" && !isField {
		var names []string
		for _, item := range k.Items {
			if item.As.Text != "" {
				names = append(names, item.As.Text)
			}
		}
		if near := didYouMean(t.Field.Text, names); near != "" {
			return Column{}, k.errorf(t.pos(), "neither a field nor a name after AS is called %s%s", shorten(t.Field.String()), near)
		}
	}
	return k.groupColumn(t)
}

// groupColumn returns the column of the group for the term, and adds a call to the grouping if it is a new function.
func (k *checker) groupColumn(t Term) (Column, error) {
	g := k.plan.Grouping
	c, err := k.call(t)
	if err != nil {
		return Column{}, err
	}
	if i := slices.IndexFunc(g.Keys, c.equal); i >= 0 {
		return g.column(i), nil
	}
	if c.isKey() {
		return Column{}, k.ungroupedError(t, c)
	}
	i := slices.IndexFunc(g.Calls, c.equal)
	if i < 0 {
		i, g.Calls = len(g.Calls), append(g.Calls, c)
	}
	if g.width() > MaxCalls {
		return Column{}, k.errorf(t.pos(), "groups have at most %d keys and functions", MaxCalls)
	}
	return g.column(len(g.Keys) + i), nil
}

// ungroupedError returns the error for a field that may differ between the rows of a group.
func (k *checker) ungroupedError(t Term, c Call) error {
	text := shorten(t.String())
	if k.Distinct {
		return k.errorf(t.pos(), "%s is not among what SELECT DISTINCT lists; add it there", text)
	}
	instead := ""
	if c.Func == FuncNone {
		instead = ", or take one value of each group, as LAST(" + text + ") does"
	}
	if len(k.Group) == 0 {
		return k.errorf(t.pos(), "%s is used in a query that returns one row for all rows; add GROUP BY %s%s", text, text, instead)
	}
	return k.errorf(t.pos(), "%s is not in GROUP BY; add it there%s", text, instead)
}

// call resolves a field, or a function and its arguments.
func (k *checker) call(t Term) (c Call, err error) {
	c.Func = t.Func.function()
	if t.Distinct {
		c.Func = functions[c.Func].distinct
	}
	f := &functions[c.Func]
	if f.Rows && t.Field.Text == "*" {
		return c, nil
	}
	if c.Column, err = k.column(t.Field); err != nil {
		return c, err
	}
	if f.second != nil {
		if err := f.second(k, &c, t); err != nil {
			return c, err
		}
	}
	if f.Takes != AnyValue && c.Column.Type == catalog.Value { // an indicator; its text is the field stringN
		c.Column, _ = parts(c.Column)
	}
	return c, k.checkNumeric(c, t)
}

// checkNumeric returns an error if a function of numbers is applied to another type.
func (k *checker) checkNumeric(c Call, t Term) error {
	if functions[c.Func].Takes != Numbers || c.Column.Type == catalog.Number || c.Column.Type == catalog.Integer {
		return nil
	}
	any := namesOf(func(f *Function) bool { return f.Takes == AnyValue || f.Takes == AnyField })
	return k.errorf(t.Field.Pos, "%s takes a number, and %s is of type %s; %s take any field",
		c.Func, shorten(t.Field.String()), c.Column.Type, andList(any))
}

// percent reads the second argument of PERCENTILE.
func (k *checker) percent(c *Call, t Term) (err error) {
	c.Percent, err = strconv.ParseFloat(t.Arg.Text, 64)
	if err != nil || !isNumber(t.Arg.Text) || c.Percent < 0 || c.Percent > 100 {
		return k.errorf(t.Arg.Pos, "PERCENTILE takes a number from 0 to 100, found %s", shorten(t.Arg.String()))
	}
	return nil
}

// bucket reads the second argument of TIMEBUCKET.
func (k *checker) bucket(c *Call, t Term) (err error) {
	if c.Column.Type != catalog.Time {
		return k.errorf(t.Field.Pos, "TIMEBUCKET takes a time, and %s is of type %s; write TIMEBUCKET(timestamp, '5m')",
			shorten(t.Field.String()), c.Column.Type)
	}
	if c.Bucket, err = parseBucket(t.Arg.Text); err != nil || t.Arg.Kind != StringLiteral {
		return k.errorf(t.Arg.Pos, "TIMEBUCKET: %v; found %s", errBucket, shorten(t.Arg.String()))
	}
	return nil
}

// having checks the condition on groups. The span is known by now, and so are the zone offsets of buckets.
func (k *checker) having() error {
	if k.plan.Grouping == nil {
		return nil
	}
	k.zones()
	if k.Having == nil {
		return nil
	}
	k.groups = true
	defer func() { k.groups = false }()
	p, err := k.pred(k.Having)
	k.plan.Having = conjunction(p)
	return err
}

// zones sets the offsets of the query's zone in the buckets. If the times have no bounds, they cover 1970 to two years
// from now, so that the statement stays short.
func (k *checker) zones() {
	for i := range k.plan.Grouping.Keys {
		c := &k.plan.Grouping.Keys[i]
		if c.Bucket.Length == 0 {
			continue
		}
		from, to := belfry.Time(0), Forever
		if k.plan.Collection.Historical && isTimestamp(c.Column) {
			from, to = max(from, k.plan.From), k.plan.To
		}
		to = min(to, max(from, k.options.Now)+belfry.Time(2*maxBucket))
		c.Bucket = c.Bucket.inZone(k.options.Location, from, to)
	}
}

// groupOrder resolves ORDER BY of groups and completes it with their keys.
func (k *checker) groupOrder() error {
	g := k.plan.Grouping
	if len(k.Order) > 0 && len(g.Keys) == 0 {
		return k.errorf(k.Order[0].pos(), "without GROUP BY there is a single row, so there is nothing to order; leave ORDER BY out")
	}
	add := func(c Column, desc bool) {
		if !slices.ContainsFunc(k.plan.Order, func(o Order) bool { return o.Column == c }) {
			k.plan.Order = append(k.plan.Order, Order{c, desc})
		}
	}
	for _, key := range k.Order {
		c, err := k.byName(key.Term)
		if err != nil {
			return err
		}
		add(c, key.Desc)
	}
	for i := range g.Keys {
		add(g.column(i), false)
	}
	return nil
}
