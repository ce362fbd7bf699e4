package sqlite

import (
	"maps"
	"math/bits"
	"slices"

	"belfry"
)

// idSet is a set of item ids. Ids are counted from 1, so it is a bitmap: adding costs a few instructions, which matters
// where every data row passes. Pages keep it small while ids are few.
type idSet struct {
	pages []*idPage              // by id / pageIDs
	far   map[belfry.ID]struct{} // ids so large that they cannot come from counting; here for safety alone
}

const (
	pageIDs = 1 << 16
	farID   = belfry.ID(1) << 34
)

type idPage [pageIDs / 64]uint64

func (s *idSet) add(id belfry.ID) {
	if p := id / pageIDs; p < belfry.ID(len(s.pages)) && s.pages[p] != nil {
		s.pages[p][id%pageIDs/64] |= 1 << (id % 64)
		return
	}
	s.addNew(id)
}

// addNew adds the first id of a page.
func (s *idSet) addNew(id belfry.ID) {
	if id >= farID {
		if s.far == nil {
			s.far = map[belfry.ID]struct{}{}
		}
		s.far[id] = struct{}{}
		return
	}
	p := int(id / pageIDs)
	if p >= len(s.pages) {
		s.pages = append(s.pages, make([]*idPage, p+1-len(s.pages))...)
	}
	s.pages[p] = new(idPage)
	s.pages[p][id%pageIDs/64] |= 1 << (id % 64)
}

// drain empties the set and returns its ids in order.
func (s *idSet) drain() (ids []belfry.ID) {
	for p, page := range s.pages {
		if page == nil {
			continue
		}
		before := len(ids)
		for w, word := range page {
			for ; word != 0; word &= word - 1 {
				ids = append(ids, belfry.ID(p*pageIDs+w*64+bits.TrailingZeros64(word)))
			}
			page[w] = 0
		}
		if len(ids) == before { // unchanged since the last time
			s.pages[p] = nil
		}
	}
	ids = append(ids, slices.Sorted(maps.Keys(s.far))...)
	s.far = nil
	return ids
}
