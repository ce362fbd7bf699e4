package engine

import (
	"fmt"

	"belfry"
	"belfry/catalog"
	"belfry/engine/audit"
	"belfry/meta"
)

// Imported is the outcome of an import.
type Imported struct {
	Changed []string         // names of new and changed definitions
	Faults  map[string]error // by name: rejected definitions
	Kept    []string         // messages about definitions that a file does not replace
}

func (i *Imported) fault(name string, err error) {
	if i.Faults == nil {
		i.Faults = map[string]error{}
	}
	i.Faults[name] = err
}

// ImportClasses sets classes of the instance, all in one record. Classes that are not given stay.
func (d Definitions) ImportClasses(defs []*catalog.Class) (out Imported, err error) {
	err = d.seq.Do(&Command{Alone: true, By: importer, Decide: func(t *Tx) error {
		t.importClasses(defs, &out)
		return nil
	}})
	if err == nil {
		err = d.seq.reevaluateClasses(out.Changed)
	}
	return out, err
}

// reevaluateClasses evaluates the objects of classes again, for every customer. If it is interrupted, the next row of each object
// has the same effect.
func (s *Sequencer) reevaluateClasses(names []string) error {
	if len(names) == 0 {
		return nil
	}
	for _, c := range s.cfg.Tree.Access().Customers() {
		var rest []string
		err := s.Do(&Command{Customer: c.ID, Alone: true, Decide: func(t *Tx) error {
			for _, name := range names {
				rest = append(rest, t.evaluateClass(name))
			}
			return nil
		}})
		if err == nil {
			err = s.reassessAll(c.ID, rest)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) importClasses(defs []*catalog.Class, out *Imported) {
	cat := t.seq.cfg.Tree.Catalog()
	var changed []*catalog.Class
	var texts []string
	var fields [][]audit.Field
	for _, def := range defs {
		now := cat.Class(def.Name)
		if now != nil {
			if err := def.Follows(now); err != nil {
				out.fault(def.Name, err)
				continue
			}
			if def = def.After(now); audit.Same(def, now) {
				continue
			}
		}
		text := "class " + def.Name + " imported"
		if now != nil {
			text += audit.DefinitionText(now, def)
		}
		t.Put(belfry.DocClass, 0, def.Name, def)
		fields = append(fields, audit.Differences(orNil(now), def))
		changed, texts = append(changed, def), append(texts, text)
		out.Changed = append(out.Changed, def.Name)
	}
	t.eachTenant(func(e *meta.Tenant, o *other) {
		for i, def := range changed {
			info := texts[i]
			if cell := e.Class(def.Name); cell != nil && cell.Own {
				info += t.dropInferred(e, cell, def, out)
			}
			o.changed(t, "configuration", "configuration", audit.Change{Kind: belfry.DocClass, Name: def.Name, Action: audit.ActionImported, Fields: fields[i], Info: info})
		}
	})
}

// dropInferred removes a customer's inferred class so that the imported definition takes effect. It keeps a class that was
// written by the customer or that the definition does not fit.
func (t *Tx) dropInferred(e *meta.Tenant, cell *meta.Class, def *catalog.Class, out *Imported) string {
	if !cell.Def.Inferred {
		return "; the customer's own definition stays"
	}
	if err := def.Follows(cell.Def); err != nil {
		why := err.(*belfry.Error).Message
		out.Kept = append(out.Kept, fmt.Sprintf("customer %q keeps the inferred class %q: %s", e.Name, cell.Name, why))
		return "; the inferred class stays: " + why
	}
	t.Document(belfry.Doc{Kind: belfry.DocClass, Customer: e.ID, Name: cell.Name})
	return " in the place of the inferred one"
}

// ImportPackages sets package types of the instance, all in one record. Types that are not given stay.
func (d Definitions) ImportPackages(types []*catalog.PackageType) (out Imported, err error) {
	err = d.seq.Do(&Command{Alone: true, By: importer, Decide: func(t *Tx) error {
		t.importPackages(types, &out)
		return nil
	}})
	return out, err
}

func (t *Tx) importPackages(types []*catalog.PackageType, out *Imported) {
	cat := t.seq.cfg.Tree.Catalog()
	var changes []audit.Change
	for _, pt := range types {
		if err := cat.CheckPackage(pt); err != nil {
			out.fault(pt.Name, err)
			continue
		}
		if now := cat.Package(pt.Name); now != nil && audit.Same(pt, now) {
			continue
		}
		text := "package " + pt.Name + " imported"
		if now := cat.Package(pt.Name); now != nil {
			text += audit.DefinitionText(now, pt)
		}
		t.Put(belfry.DocPackage, 0, pt.Name, pt)
		out.Changed = append(out.Changed, pt.Name)
		changes = append(changes, audit.Change{Kind: belfry.DocPackage, Name: pt.Name, Action: audit.ActionImported, Fields: audit.Differences(orNil(cat.Package(pt.Name)), pt), Info: text})
	}
	t.eachTenant(func(_ *meta.Tenant, o *other) {
		for _, c := range changes {
			o.changed(t, "configuration", "configuration", c)
		}
	})
}

// importer is the service when it reads files.
var importer = &belfry.Actor{Name: "system", Via: belfry.ViaService}

// orNil is a definition, or nil if there is none.
func orNil[K any](k *K) any {
	if k == nil {
		return nil
	}
	return k
}
