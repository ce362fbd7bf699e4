package filter

import (
	"errors"
	regex "regexp/syntax"
	"strings"
	"unicode/utf8"
)

// pattern is a regular expression that is matched within a budget. The standard library takes time proportional to pattern
// times text, which is seconds for a long message; this matcher counts its steps. It simulates all threads of the program at
// once, character by character. It is for one goroutine.
type pattern struct {
	insts   []regex.Inst
	start   uint32
	ascii   []asciiSet // accepted by each instruction
	prefix  string     // of every match
	first   *[256]bool // bytes that can begin a match; nil if a match can be empty
	begin   bool       // anchored at the start
	context bool       // it has assertions: ^, $ or \b

	seen  []uint32 // position, counted, at which an instruction was last visited
	place uint32
	todo  []uint32 // instructions to visit at this position
	next  []uint32 // and at the next one
}

var errBudget = errors.New("no steps are left")

// newPattern compiles a pattern with the syntax of the standard library.
func newPattern(text string) (*pattern, error) {
	re, err := regex.Parse(text, regex.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := regex.Compile(re.Simplify())
	if err != nil {
		return nil, err
	}
	p := &pattern{insts: prog.Inst, start: uint32(prog.Start), seen: make([]uint32, len(prog.Inst))}
	p.begin = prog.StartCond()&regex.EmptyBeginText != 0
	p.prefix, _ = prog.Prefix()
	p.ascii = make([]asciiSet, len(p.insts))
	for i := range p.insts {
		switch in := &p.insts[i]; in.Op {
		case regex.InstEmptyWidth:
			p.context = true
		case regex.InstRune, regex.InstRune1, regex.InstRuneAny, regex.InstRuneAnyNotNL:
			for r := range rune(utf8.RuneSelf) {
				if in.MatchRune(r) {
					p.ascii[i][r/64] |= 1 << (r % 64)
				}
			}
		}
	}
	p.first = p.firstBytes()
	return p, nil
}

// asciiSet is a set of characters.
type asciiSet [utf8.RuneSelf / 64]uint64

func (s *asciiSet) has(r rune) bool { return s[r/64]&(1<<(r%64)) != 0 }

// firstBytes collects the bytes that can begin a match.
func (p *pattern) firstBytes() *[256]bool {
	first := &[256]bool{}
	for b := utf8.RuneSelf; b < len(first); b++ {
		first[b] = true
	}
	seen := make([]bool, len(p.insts))
	for todo := []uint32{p.start}; len(todo) > 0; {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch in := &p.insts[pc]; in.Op {
		case regex.InstMatch:
			return nil
		case regex.InstAlt, regex.InstAltMatch:
			todo = append(todo, in.Out, in.Arg)
		case regex.InstCapture, regex.InstNop, regex.InstEmptyWidth:
			todo = append(todo, in.Out)
		case regex.InstRune, regex.InstRune1, regex.InstRuneAny, regex.InstRuneAnyNotNL:
			for r := range rune(utf8.RuneSelf) {
				first[r] = first[r] || p.ascii[pc].has(r)
			}
		}
	}
	return first
}

// match reports whether the pattern matches somewhere in a text. It subtracts its steps from the budget.
func (p *pattern) match(text string, budget *int) (bool, error) {
	p.next = p.next[:0]
	before := rune(-1)
	for i := 0; ; {
		if len(p.next) == 0 {
			to := p.skip(text, i)
			if to < 0 {
				*budget -= 1 + (len(text)-i)/skipBytes
				return false, nil
			}
			if to > i {
				*budget -= (to - i) / skipBytes
				i = to
				before, _ = utf8.DecodeLastRuneInString(text[:i])
			}
		}
		r, width := rune(-1), 0
		if i < len(text) {
			if r = rune(text[i]); r < utf8.RuneSelf {
				width = 1
			} else {
				r, width = utf8.DecodeRuneInString(text[i:])
			}
		}
		if p.visit(before, r, i == 0 || !p.begin, budget) {
			return true, nil
		}
		if *budget < 0 {
			return false, errBudget
		}
		if width == 0 {
			return false, nil
		}
		i += width
		before = r
	}
}

// skipBytes is how many bytes that cannot begin a match are skipped per step.
const skipBytes = 4

// skip returns the next position, from i on, at which a match can begin; -1 if there is none.
func (p *pattern) skip(text string, i int) int {
	switch {
	case p.begin && i > 0:
		return -1
	case p.begin || p.first == nil:
		return i
	case p.prefix != "":
		n := strings.Index(text[i:], p.prefix)
		if n < 0 {
			return -1
		}
		return i + n
	}
	for ; i < len(text); i++ {
		if p.first[text[i]] {
			return i
		}
	}
	return -1
}

// visit follows the program at one position and reports whether it matches.
func (p *pattern) visit(before, r rune, start bool, budget *int) (matched bool) {
	if p.place++; p.place == 0 { // the counter has wrapped around
		clear(p.seen)
		p.place = 1
	}
	p.todo, p.next = p.next, p.todo[:0]
	if start {
		p.todo = append(p.todo, p.start)
	}
	var around regex.EmptyOp
	if p.context {
		around = regex.EmptyOpContext(before, r)
	}
	steps := 1
	for len(p.todo) > 0 {
		pc := p.todo[len(p.todo)-1]
		p.todo = p.todo[:len(p.todo)-1]
		for p.seen[pc] != p.place {
			p.seen[pc] = p.place
			steps++
			in := &p.insts[pc]
			switch in.Op {
			case regex.InstMatch:
				*budget -= steps
				return true
			case regex.InstAlt, regex.InstAltMatch:
				p.todo = append(p.todo, in.Arg)
				pc = in.Out
			case regex.InstCapture, regex.InstNop:
				pc = in.Out
			case regex.InstEmptyWidth:
				if regex.EmptyOp(in.Arg)&^around == 0 {
					pc = in.Out
				}
			case regex.InstRune, regex.InstRune1, regex.InstRuneAny, regex.InstRuneAnyNotNL:
				if uint32(r) < utf8.RuneSelf && p.ascii[pc].has(r) || r >= utf8.RuneSelf && in.MatchRune(r) {
					p.next = append(p.next, in.Out)
				}
			}
		}
	}
	*budget -= steps
	return false
}
