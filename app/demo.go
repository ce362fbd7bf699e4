package app

import (
	"context"
	"fmt"
	"time"

	"belfry"

	"belfry/demo"
)

// demoSeed is fixed, so that every demo has the same data.
const demoSeed = 1

// demoStep fills the first customer with sample data, if asked to. The history takes long, so it is sent while the service is
// already running.
func (s *service) demoStep(ctx context.Context) error {
	if !s.Demo {
		return nil
	}
	c, ok := s.Tree.Access().CustomerNamed(belfry.DefaultCustomer)
	if !ok {
		return fmt.Errorf("a demo needs the customer %q, which this folder does not have", belfry.DefaultCustomer)
	}
	d := demo.New(demo.Config{
		Tree: s.Tree, Seq: s.seq, Intake: s.intake, Customer: c.ID, Seed: demoSeed, Now: time.Now, Zone: s.zoneOf(c.ID), Log: s.Log.With("part", "demo"),
	})
	if err := d.Build(ctx); err != nil {
		return err
	}
	s.upkeep.start("demo", d.Run, s.failed)
	return nil
}
