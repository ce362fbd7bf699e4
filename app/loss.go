package app

import (
	"belfry"
	"belfry/folder"
	"belfry/store"
)

// reportLosses begins the fault, if there is a loss that is not confirmed.
func (s *service) reportLosses() {
	open, message := s.OpenLosses()
	var list []store.Loss
	for _, l := range open {
		list = append(list, store.Loss{From: l.From, To: l.To, Text: l.Span()})
	}
	s.store.SetLosses(list)
	if len(open) > 0 {
		s.faults.begin(folder.FaultLoss, false, message)
	}
}

// confirmFault ends a fault that an administrator has taken note of, and reports whether it was open.
func (s *service) confirmFault(id, by string) (open bool, err error) {
	open = s.faults.isOpen(id)
	switch id {
	case folder.FaultClock:
		return open, s.confirmClock(by)
	case folder.FaultLoss:
		if err := s.ConfirmLosses(); err != nil {
			return open, err
		}
		s.store.SetLosses(nil)
		if open {
			s.faults.report("the loss of records of the journal was confirmed by " + by)
			s.faults.end(folder.FaultLoss)
		}
		return open, nil
	}
	return false, unconfirmable(id)
}

func unconfirmable(id string) error {
	return belfry.Errorf(belfry.UnknownItem, "the fault %q cannot be confirmed; %s and %s can, other faults end when their cause does", id, folder.FaultLoss, folder.FaultClock)
}
