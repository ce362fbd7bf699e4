// Package demo fills a customer with live sample data: a company on a map with its sites, racks and services, the
// last day of their values, and then new ones every few seconds, with incidents that come and go and operators who deal
// with them.
//
//	plan (what there is) ──► Build: classes, views, resources, objects, elements, notes, windows
//	course (value at a time) ──► past: a day of rows ──► live: a few rows every few seconds
//	incidents (what is wrong at a time) ──┘                 └──► operators: acknowledge, note, unmanage
//
// All data go through the sequencer, like the requests of clients. Values and incidents are functions of the seed, the object
// and the time alone, so a restart continues, and two demos with the same seed show the same at the same time.
package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"belfry"
	"belfry/engine"
	"belfry/intake"
	"belfry/meta"
)

// Config configures a Demo. All fields are required.
type Config struct {
	Tree     *meta.Tree
	Seq      *engine.Sequencer
	Intake   *intake.Intake
	Customer belfry.CustomerID
	Seed     uint64
	Now      func() time.Time
	Zone     *time.Location // of the working hours
	Log      *slog.Logger
}

// Demo is the sample data of one customer.
type Demo struct {
	Config
	plan *plan
	seen map[string]bool // incidents that operators have handled
}

// New returns a Demo.
func New(c Config) *Demo {
	return &Demo{Config: c, plan: newPlan(), seen: map[string]bool{}}
}

// Company is the view that contains the sites. Its class marks the customer as a demo.
const (
	Company = "Tramont"
	mark    = "demo"
)

// Build creates the sample data if there are none. It refuses a customer that has items of its own, so that they are not mixed
// with sample data.
func (d *Demo) Build(ctx context.Context) error {
	began, err := d.begun()
	if err != nil || began {
		return err
	}
	if err := d.classes(); err != nil {
		return err
	}
	if err := d.pictures(); err != nil {
		return err
	}
	for _, b := range d.plan.bodies() {
		if err := d.provision(ctx, b); err != nil {
			return err
		}
	}
	return d.furnish(ctx)
}

// begun reports whether the customer has the sample data.
func (d *Demo) begun() (yes bool, err error) {
	d.Tree.Read(d.Customer, func(e *meta.Tenant) {
		company := e.Place(Company)
		if yes = company != nil && company.Class != nil && company.Class.Name == mark; yes {
			return
		}
		views := e.Count(belfry.KindView) - 1 // MAIN is always there
		resources, objects, elements := e.Count(belfry.KindResource), e.Count(belfry.KindObject), e.Count(belfry.KindElement)
		if views+resources+objects+elements > 0 {
			err = fmt.Errorf("the customer %q has %d views, %d resources and %d objects that are no demo; "+
				"give another folder with --data, or start without --demo", e.Name, views, resources, objects)
		}
	})
	return yes, err
}

func (d *Demo) classes() error {
	texts, err := classTexts()
	if err != nil {
		return err
	}
	for _, text := range texts {
		def, err := d.Tree.Catalog().ReadClass(text)
		if err != nil {
			return fmt.Errorf("sample class: %w", err)
		}
		if _, _, err := d.Seq.Definitions().PutClass(d.sender("demo"), def); err != nil {
			return fmt.Errorf("sample class %s: %w", def.Name, err)
		}
	}
	return nil
}

func (d *Demo) pictures() error {
	for _, name := range []string{country, compass} {
		image, err := pictureFiles.ReadFile("picture/" + strings.TrimPrefix(name, "demo/") + ".svg")
		if err != nil {
			return err
		}
		p, err := engine.ReadPicture(d.sender("demo"), name, image)
		if err != nil {
			return fmt.Errorf("sample picture %s: %w", name, err)
		}
		if _, _, err := d.Seq.Definitions().PutPicture(d.sender("demo"), p, image); err != nil {
			return fmt.Errorf("sample picture %s: %w", name, err)
		}
	}
	return nil
}

func (d *Demo) sender(name string) engine.Sender {
	return engine.Sender{Scope: belfry.Whole(d.Customer), Name: name}
}

func (d *Demo) provision(ctx context.Context, b *body) error {
	_, answer, err := d.Intake.Provision(ctx, d.sender("demo"), b.pkg, b.reader(), intake.Options{})
	return whole("provision "+b.pkg, answer, err)
}

func (d *Demo) send(ctx context.Context, b *body) error {
	if b.rows == 0 {
		return nil
	}
	_, answer, err := d.Intake.Send(ctx, d.sender("demo"), b.reader(), intake.Options{})
	return whole("send", answer, err)
}

// whole turns a report with rejected rows into an error.
func whole(what string, answer []byte, err error) error {
	if err != nil {
		return fmt.Errorf("%s sample data: %w", what, err)
	}
	var r belfry.Report
	if err := json.Unmarshal(answer, &r); err != nil {
		return fmt.Errorf("%s sample data: %w", what, err)
	}
	if len(r.Errors) > 0 {
		e := r.Errors[0]
		return fmt.Errorf("%s sample data: %d of %d rows refused, the first in row %d, column %s: %s", what, r.Rejected, r.Rows, e.Row, e.Column, e.Message)
	}
	return nil
}
