package collect

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// Filter is the condition that messages of a receiver must meet. Filters run in this process, for every message, so what they
// may cost is decided before they run: checkFilter bounds their length, depth and work.
type Filter struct {
	program *vm.Program
	vm      vm.VM
}

const (
	filterLength = 16 << 10 // bytes
	filterDepth  = 100      // brackets inside brackets
	filterNodes  = 1000     // of the parsed condition
	filterMemory = 100000   // values that one evaluation may make
)

// NewFilter reads a condition over the fields of a message, of which sample is one. A Filter is for one goroutine.
func NewFilter(text string, sample any) (*Filter, error) {
	if len(text) > filterLength {
		return nil, fmt.Errorf("it has %d bytes, and a filter may have %d", len(text), filterLength)
	}
	if depth := nesting(text); depth > filterDepth {
		return nil, fmt.Errorf("it has brackets inside brackets, %d deep, and a filter may have %d", depth, filterDepth)
	}
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, placed(err)
	}
	if err := checkFilter(tree.Node, text); err != nil { // before the optimizer, which computes what is constant
		return nil, err
	}
	options := []expr.Option{expr.Env(sample), expr.AsBool(), expr.MaxNodes(filterNodes)}
	plain, err := expr.Compile(text, append(options, expr.Optimize(false))...)
	if err != nil {
		return nil, placed(err)
	}
	if err := checkStrings(plain.Node(), text); err != nil { // the types are known now
		return nil, err
	}
	program, err := expr.Compile(text, options...)
	if err != nil {
		return nil, placed(err)
	}
	return &Filter{program: program, vm: vm.VM{MemoryBudget: filterMemory}}, nil
}

// nesting is how deep brackets stand inside each other. Brackets in texts and comments count, too: a parser is not to be asked
// before this is known.
func nesting(text string) (deepest int) {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ')', ']', '}':
			depth--
		}
	}
	return deepest
}

// placed says in one line what is wrong and where.
func placed(err error) error {
	if at, ok := err.(*file.Error); ok {
		return fmt.Errorf("line %d, column %d: %s", at.Line, at.Column+1, at.Message)
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("%s", first)
}

// Keep tells whether a message meets the condition.
func (f *Filter) Keep(m any) (bool, error) {
	out, err := f.vm.Run(f.program, m)
	if err != nil {
		return false, placed(err)
	}
	keep, _ := out.(bool)
	return keep, nil
}
