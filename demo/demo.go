// Package demo fills a customer with live sample data: a company on a map with its sites, racks and services, the
// last day of their values, and then new ones every few seconds, with incidents that come and go and operators who deal
// with them.
//
//	plan (what there is) ──► Build: classes, views, resources, objects, elements, notes, windows
//	course (value at a time) ──► past: a day of rows ──► live: a few rows every few seconds
//	incidents (what is wrong at a time) ──┘                 └──► operators: acknowledge, note, unmanage
//
// Everything goes through the sequencer, as the requests of any client do. A value is a function of the seed, the object
// and the time and of nothing else, and so is what goes wrong: a restart goes on where the clock is, and two inventories of
// one seed show the same at the same moment.
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

// Config is what a Demo needs. All of it is required.
type Config struct {
	Tree     *meta.Tree
	Seq      *engine.Sequencer
	Intake   *intake.Intake
	Customer belfry.CustomerID
	Seed     uint64
	Now      func() time.Time
	Zone     *time.Location // in which the company works by day and sleeps by night
	Log      *slog.Logger
}

// Demo is the sample data of one customer.
type Demo struct {
	Config
	plan *plan
	seen map[string]bool // what operators have dealt with
}

// New makes a Demo.
func New(c Config) *Demo {
	return &Demo{Config: c, plan: newPlan(), seen: map[string]bool{}}
}

// Company is the view in which the sites stand. Its class marks a customer as one of ours.
const (
	Company = "Tramont"
	mark    = "demo"
)

// Build makes the sample data when there is none. What a customer has made by hand is not mixed with samples: a customer that
// holds something and is no demo is refused.
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

// begun tells whether the customer has the sample data already.
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

// whole makes an error of a report in which anything was refused.
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
