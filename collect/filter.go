package collect

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"
)

// Filter is the condition that messages of a receiver must meet. Its language has no loops that do not end, no input
// and no output; what is left is limited in size.
type Filter struct {
	program *vm.Program
	vm      vm.VM
}

const (
	filterNodes  = 1000   // of the condition, once it is read
	filterMemory = 100000 // values that one evaluation may make
)

// NewFilter reads a condition over the fields of a message, of which sample is one. A Filter is for one goroutine.
func NewFilter(text string, sample any) (*Filter, error) {
	program, err := expr.Compile(text, expr.Env(sample), expr.AsBool(), expr.MaxNodes(filterNodes),
		expr.DisableBuiltin("now"), expr.DisableBuiltin("repeat"))
	if err != nil {
		return nil, placed(err)
	}
	return &Filter{program: program, vm: vm.VM{MemoryBudget: filterMemory}}, nil
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
