package ingest

import (
	"cmp"
	"maps"

	"belfry"
	"belfry/catalog"
	"belfry/meta"
)

// hidden stands for a secret that is not shown; sent back, it keeps the secret.
const hidden = "***"

func detailsOf(answers map[string]string) *belfry.Details {
	if len(answers) == 0 {
		return nil
	}
	return &belfry.Details{Answers: answers}
}

// update changes what the row says differently. A nil parent keeps the place, an empty class the class.
func (p *provisioning) update(have, parent *meta.Node, class string) *belfry.RowError {
	d := p.details(have)
	answers, bad := p.answers(&d)
	if bad != nil {
		return bad
	}
	if parent == p.parent(have) {
		parent = nil
	}
	if parent != nil {
		if bad := p.rooted("view", have); bad != nil {
			return bad
		}
		if bad := p.checkMove("view", have, parent); bad != nil {
			return bad
		}
	}
	it := p.current(have)
	if class != "" && class != it.Class {
		it.Class = class
	}
	same := maps.Equal(answers, d.Answers)
	if parent == nil && same && it.Class == p.current(have).Class {
		p.report.Unchanged++
		return nil
	}
	if !same {
		d.Answers = answers
		it.Details = &d
	}
	p.set(it)
	if parent != nil {
		p.move(have, parent)
	}
	p.report.Updated++
	return nil
}

// answers are the row's answers over those given before: an absent column keeps its answer, an empty cell sets the
// default, except that an empty place is no place. Answers that equal the default are not kept: the package has them.
// Where the item stands, what it is called and what class it has are not answers.
func (p *provisioning) answers(before *belfry.Details) (map[string]string, *belfry.RowError) {
	answers := map[string]string{}
	if before != nil {
		maps.Copy(answers, before.Answers)
	}
	for i, q := range p.b.columns {
		v := p.text(i)
		switch {
		case notAnswer(p.b.pt, q.Name):
		case q.Secret && v == hidden:
			if answers[q.Name] == "" {
				return nil, rejectf(q.Name, belfry.MissingValue, "%s reads %s, which keeps a secret that was given before, and none was; give the secret itself", q.Name, hidden)
			}
		case q.Secret && v != "" && v != q.Default:
			if bad := p.seal(answers, q.Name, v); bad != nil {
				return nil, bad
			}
		case v == "" && (q.Name == "posx" || q.Name == "posy"):
		case v == "" && q.Required:
			return nil, rejectf(q.Name, belfry.MissingValue, "%s is empty; package %q needs it, so fill it in or, for what exists, leave the column out", q.Name, p.b.pt.Name)
		case v == "" || v == q.Default:
			delete(answers, q.Name)
		default:
			answers[q.Name] = v
		}
	}
	for i := range p.b.pt.Questions {
		q := &p.b.pt.Questions[i]
		switch {
		case notAnswer(p.b.pt, q.Name):
		case q.Required && answers[q.Name] == "":
			return nil, rejectf(q.Name, belfry.MissingValue, "there is no column %s; package %q needs it to create a %s", q.Name, p.b.pt.Name, p.b.pt.Kind)
		case answers[q.Name] == q.Default: // as an earlier version may have kept it
			delete(answers, q.Name)
		}
	}
	return answers, p.judge(answers)
}

// secretPlace is where a secret of the row's item belongs.
func (p *provisioning) secretPlace(column string) meta.SecretPlace {
	return meta.SecretPlace{Customer: p.estate.ID, Item: p.text(p.b.name), Column: column}
}

// seal sets a secret answer. One that is sealed already and says the same stays as it is.
func (p *provisioning) seal(answers map[string]string, column, secret string) *belfry.RowError {
	secrets, at := p.seq.cfg.Tree.Secrets(), p.secretPlace(column)
	if have, err := secrets.Open(at, answers[column]); err == nil && have == secret && secrets.Current(answers[column]) {
		return nil
	}
	sealed, err := secrets.Seal(at, secret)
	if err != nil {
		return rejectf(column, belfry.BadValue, "%s cannot be stored: %s", column, err)
	}
	answers[column] = sealed
	return nil
}

// judge lets the collector of a resource look at all answers together.
func (p *provisioning) judge(answers map[string]string) *belfry.RowError {
	check := p.seq.cfg.Check
	if p.b.pt.Collector == "" || check == nil {
		return nil
	}
	all := make(map[string]string, len(p.b.pt.Questions))
	for i := range p.b.pt.Questions {
		q := &p.b.pt.Questions[i]
		text, err := p.seq.cfg.Tree.Secrets().Open(p.secretPlace(q.Name), answers[q.Name])
		if err != nil {
			return rejectf(q.Name, belfry.BadValue, "the stored %s cannot be read: %s; give it anew", q.Name, err)
		}
		all[q.Name] = cmp.Or(text, q.Default)
	}
	if column, err := check(p.b.pt.Collector, all); err != nil {
		return rejectf(column, belfry.BadValue, "%s", err)
	}
	return nil
}

// notAnswer tells which columns are part of the item itself.
func notAnswer(pt *catalog.PackageType, column string) bool {
	switch column {
	case "name", "view":
		return true
	case "resname", "class":
		return pt.Kind == catalog.ViewPackage
	}
	return false
}
