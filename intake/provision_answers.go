package intake

import (
	"cmp"
	"maps"

	"belfry"
	"belfry/catalog"
	"belfry/engine/audit"
	"belfry/meta"
)

func detailsOf(answers map[string]string) *belfry.Details {
	if len(answers) == 0 {
		return nil
	}
	return &belfry.Details{Answers: answers}
}

// update changes what the row says differently. A nil parent keeps the place, an empty class the class.
func (p *provisioning) update(have, parent *meta.Node, class string) *belfry.RowError {
	if bad := p.mayChange(have); bad != nil {
		return bad
	}
	d := p.Details(have)
	answers, bad := p.answers(&d)
	if bad != nil {
		return bad
	}
	if parent == p.Parent(have) {
		parent = nil
	}
	if parent != nil {
		if bad := p.Check().NotRoot("view", have); bad != nil {
			return bad
		}
		if bad := p.Check().Move("view", have, parent); bad != nil {
			return bad
		}
	}
	same := maps.Equal(answers, d.Answers)
	if parent == nil && same && (class == "" || class == p.Current(have).Class) {
		p.report.Unchanged++
		return nil
	}
	var after *belfry.Details
	if !same {
		before := d
		d.Author = p.author(d.Answers["script"], answers["script"], d.Author)
		d.Answers = answers
		if bad := p.Budget().ReserveDetails("name", &before, &d); bad != nil {
			return bad
		}
		after = &d
	}
	p.Change(have, parent, class, after)
	p.report.Updated++
	return nil
}

// answers are the row's answers over those given before: an absent column keeps its answer, an empty cell sets the
// default, except that an empty place is no place. Answers that equal the default are not kept: the package has them.
// The parent, the name and the class of an item are not answers.
func (p *provisioning) answers(before *belfry.Details) (map[string]string, *belfry.RowError) {
	if before == nil {
		before = &belfry.Details{}
	}
	open := p.in.openAnswers(p.Tenant.ID, p.text(p.b.name), before.Answers)
	answers, bad := p.b.answers(open, p.fields)
	if bad == nil && (len(open) == 0 || !maps.Equal(answers, open)) {
		if bad = p.readable(answers, open); bad == nil {
			bad = p.judge(answers)
		}
	}
	if bad == nil {
		bad = p.checkPicture(answers, open)
	}
	if bad != nil {
		return nil, bad
	}
	return p.seal(answers, open, before.Answers)
}

// answers are those of a row merged over the earlier ones, not yet validated together.
func (b *packageBody) answers(before map[string]string, fields [][]byte) (map[string]string, *belfry.RowError) {
	answers := maps.Clone(before)
	if answers == nil {
		answers = map[string]string{}
	}
	for i, q := range b.columns {
		v := string(cell(fields, i))
		switch {
		case notAnswer(b.pt, q.Name):
		case q.Secret && v == audit.Hidden:
			if answers[q.Name] == "" {
				return nil, belfry.Rejectf(q.Name, belfry.MissingValue, "%s reads %s, which keeps a secret that was given before, and none was; give the secret itself", q.Name, audit.Hidden)
			}
		case v == "" && (q.Name == "posx" || q.Name == "posy"):
		case v == "" && q.Required:
			return nil, belfry.Rejectf(q.Name, belfry.MissingValue, "%s is empty; package %q needs it, so fill it in or, for what exists, leave the column out", q.Name, b.pt.Name)
		case v == "" || v == q.Default:
			delete(answers, q.Name)
		default:
			answers[q.Name] = v
		}
	}
	for i := range b.pt.Questions {
		q := &b.pt.Questions[i]
		switch {
		case notAnswer(b.pt, q.Name):
		case q.Required && answers[q.Name] == "":
			return nil, belfry.Rejectf(q.Name, belfry.MissingValue, "there is no column %s; package %q needs it to create a %s", q.Name, b.pt.Name, b.pt.Kind)
		case answers[q.Name] == q.Default: // the default may have become another one since
			delete(answers, q.Name)
		}
	}
	return answers, nil
}

// openAnswers returns answers of an item with its secrets decrypted. A secret that cannot be decrypted stays as it is. Answers without
// secrets are not copied.
func (in *Intake) openAnswers(c belfry.CustomerID, item string, answers map[string]string) map[string]string {
	open, copied := answers, false
	for column, text := range answers {
		if !meta.Sealed(text) {
			continue
		}
		if !copied {
			open, copied = maps.Clone(answers), true
		}
		if plain, err := in.tree.Secrets().Open(meta.SecretRef{Customer: c, Item: item, Column: column}, text); err == nil {
			open[column] = plain
		}
	}
	return open
}

// readable refuses to change an item of which a secret stays that cannot be decrypted: the answers could not be checked.
func (p *provisioning) readable(answers, open map[string]string) *belfry.RowError {
	for column, text := range answers {
		if text != open[column] {
			continue
		}
		if _, err := p.in.tree.Secrets().Open(meta.SecretRef{Customer: p.Tenant.ID, Item: p.text(p.b.name), Column: column}, text); err != nil {
			return belfry.Rejectf(column, belfry.BadValue, "the stored %s cannot be read: %s; give it again", column, err)
		}
	}
	return nil
}

// seal encrypts the secrets among the answers of the row's item. One that the row does not change keeps its encrypted form.
func (p *provisioning) seal(answers, open, before map[string]string) (map[string]string, *belfry.RowError) {
	secrets := p.in.tree.Secrets()
	sealed, copied := answers, false
	for i := range p.b.pt.Questions {
		q := &p.b.pt.Questions[i]
		if !q.Secret || answers[q.Name] == "" {
			continue
		}
		if !copied {
			sealed, copied = maps.Clone(answers), true
		}
		text := answers[q.Name]
		if text == open[q.Name] && (meta.Sealed(text) || secrets.Current(before[q.Name])) {
			sealed[q.Name] = before[q.Name]
			continue
		}
		var err error
		if sealed[q.Name], err = secrets.Seal(meta.SecretRef{Customer: p.Tenant.ID, Item: p.text(p.b.name), Column: q.Name}, text); err != nil {
			return nil, belfry.Rejectf(q.Name, belfry.BadValue, "%s cannot be stored: %s", q.Name, err)
		}
	}
	return sealed, nil
}

// judge has the collector of a resource check all answers together.
func (p *provisioning) judge(answers map[string]string) *belfry.RowError {
	if p.b.inspect != nil {
		return p.b.inspect.verdict(p.text(p.b.name), answers)
	}
	check := p.in.config.Check
	if p.b.pt.Collector == "" || check == nil {
		return nil
	}
	if column, err := check(p.b.pt.Collector, p.b.complete(answers)); err != nil {
		return belfry.Rejectf(column, belfry.BadValue, "%s", err)
	}
	return nil
}

// complete returns answers with the defaults of all questions that have none.
func (b *packageBody) complete(answers map[string]string) map[string]string {
	all := make(map[string]string, len(b.pt.Questions))
	for i := range b.pt.Questions {
		q := &b.pt.Questions[i]
		all[q.Name] = cmp.Or(answers[q.Name], q.Default)
	}
	return all
}

// notAnswer reports whether a column is part of the item itself.
func notAnswer(pt *catalog.PackageType, column string) bool {
	switch column {
	case "name", "view":
		return true
	case "resname", "class":
		return pt.Kind == catalog.ViewPackage
	}
	return false
}
