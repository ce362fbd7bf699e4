package engine

import (
	"fmt"

	"belfry"
	"belfry/meta"
)

// reserveTexts reserves memory for texts of the customer that grow by that many bytes. Shrinking is always accepted, also above
// the limit.
func (t *Tx) reserveTexts(grow int64) *belfry.Error {
	if err := t.roomForTexts(grow); err != nil {
		return err
	}
	if grow != 0 {
		t.s.texts[t.Tenant.ID] += grow
		t.s.grown += grow
	}
	return nil
}

// roomForTexts rejects growth of texts by that many bytes if it exceeds the limit.
func (t *Tx) roomForTexts(grow int64) *belfry.Error {
	if grow <= 0 {
		return nil
	}
	limit := t.seq.cfg.Limits().Texts
	own, all := t.Tenant.TextMemory()+t.s.texts[t.Tenant.ID], t.seq.cfg.Tree.TextMemory()+t.s.grown
	one, most := belfry.SharedLimit(limit, own+grow)
	switch {
	case limit == 0:
	case own+grow > one && t.Limited: // a limited user must not learn how much others store
		return belfry.Errorf(belfry.LimitReached, "there is no room for %s more of texts; shorten or remove some, or ask an administrator for more", mebibytes(grow))
	case own+grow > one:
		return belfry.Errorf(belfry.LimitReached, "the texts of this customer (answers, constants, notes, classes, policies, users) take %s and would grow by %s; "+
			"%s are allowed. Shorten or remove some, or raise limits.texts, half of which is for one customer", mebibytes(own), mebibytes(grow), mebibytes(one))
	case all+grow > most:
		return belfry.Errorf(belfry.LimitReached, "there is no room for %s more of texts: those of all customers take nearly all of the %s that are allowed. "+
			"Shorten or remove some, or ask an administrator of the instance to raise limits.texts", mebibytes(grow), mebibytes(limit))
	}
	return nil
}

func mebibytes(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// reserveDoc reserves memory for a document, with an error for the whole request.
func (t *Tx) reserveDoc(kind, name string, body []byte) error {
	if err := t.reserveTexts(meta.DocSize(kind, name, len(body)) - t.Tenant.DocMemory(kind, name)); err != nil {
		return belfry.Errorf(belfry.BadParameter, "%s", err.Message)
	}
	return nil
}

// reserveOperatorTexts reserves memory for a change of the operator state of an item.
func (t *Tx) reserveOperatorTexts(n *meta.Node, change func(*belfry.OperatorState)) *belfry.Error {
	had := t.s.drafts[t.s.draft(n)].state.Operator
	var op belfry.OperatorState
	if had != nil {
		op = *had
	}
	change(&op)
	return t.reserveTexts(meta.OperatorStateSize(&op) - meta.OperatorStateSize(had))
}

// ackGrowth returns the bytes that an acknowledgment of an item adds to texts. It is stored with each object in error inside, too.
func (t *Tx) ackGrowth(n *meta.Node, text string) (grow int64) {
	grow = t.ackGrowthOf(n, text)
	if text != "" && n.Kind != belfry.KindObject {
		grow += t.ackGrowthInside(n, text)
	}
	return grow
}

func (t *Tx) ackGrowthInside(n *meta.Node, text string) (grow int64) {
	t.eachInside(n, func(c *meta.Node) {
		if c.Kind == belfry.KindObject {
			grow += t.ackGrowthOf(c, text)
		} else {
			grow += t.ackGrowthInside(c, text)
		}
	})
	return grow
}

func (t *Tx) ackGrowthOf(n *meta.Node, text string) int64 {
	return ackGrows(&t.s.drafts[t.s.draft(n)].state, text)
}

// ackGrows is ackGrowth for one item alone.
func ackGrows(s *belfry.State, text string) int64 {
	if text == "" || !s.Status.IsError() {
		return 0
	}
	had := 0
	if s.Operator != nil && s.Operator.Ack != nil {
		had = len(s.Operator.Ack.Text)
	}
	return int64(len(text) - had)
}
