// Package filter evaluates the conditions that users write over the fields of messages, such as severity <= 4 && app == "sshd".
//
// Filters run in this process, for every message, so what they may cost is limited twice: New bounds length, depth and steps of
// the condition, and Keep the work for one message.
package filter

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// Filter is the condition that messages of a receiver must meet. It is for one goroutine.
type Filter struct {
	program  *vm.Program
	vm       vm.VM
	patterns []*pattern
	steps    int // at most, without what depends on the length of a message
	reads    int // parts of a step per byte of a message
	left     int // steps left for the current message
}

const (
	maxLength = 16 << 10 // bytes
	maxDepth  = 100      // nested brackets
	maxNodes  = 1000     // of the syntax tree
	maxMemory = 100000   // values per evaluation
)

// New parses a condition over the fields of a message like sample.
func New(text string, sample any) (*Filter, error) {
	if len(text) > maxLength {
		return nil, fmt.Errorf("it has %d bytes, and a filter may have %d", len(text), maxLength)
	}
	if depth := Nesting(text); depth > maxDepth {
		return nil, fmt.Errorf("it has brackets inside brackets, %d deep, and a filter may have %d", depth, maxDepth)
	}
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, withPosition(err)
	}
	f := &Filter{vm: vm.VM{MemoryBudget: maxMemory}}
	if f.steps, f.reads, err = checkCost(tree.Node, text); err != nil { // before the optimizer, which evaluates constants
		return nil, err
	}
	options := []expr.Option{expr.Env(sample), expr.AsBool(), expr.MaxNodes(maxNodes)}
	plain, err := expr.Compile(text, append(options, expr.Optimize(false))...)
	if err != nil {
		return nil, withPosition(err)
	}
	if err := checkStrings(plain.Node(), text); err != nil { // the types are known now
		return nil, err
	}
	options = append(options, expr.Patch(f), expr.Function(matchFunction, f.matches, new(func(any, int) bool)))
	if f.program, err = expr.Compile(text, options...); err != nil {
		return nil, withPosition(err)
	}
	return f, nil
}

// matchFunction implements the operator matches. A filter cannot call it: checkCost does not know the name.
const matchFunction = "matchWithin"

// Visit replaces the operator matches by a call that is limited by the filter's budget.
func (f *Filter) Visit(n *ast.Node) {
	b, ok := (*n).(*ast.BinaryNode)
	if !ok || b.Operator != "matches" {
		return
	}
	text, ok := b.Right.(*ast.StringNode)
	if !ok {
		return
	}
	p, err := newPattern(text.Value)
	if err != nil { // checkCost has accepted it
		return
	}
	f.patterns = append(f.patterns, p)
	ast.Patch(n, &ast.CallNode{
		Callee:    &ast.IdentifierNode{Value: matchFunction},
		Arguments: []ast.Node{b.Left, &ast.IntegerNode{Value: len(f.patterns) - 1}},
	})
}

// matches reports whether a text matches the pattern with a number.
func (f *Filter) matches(args ...any) (any, error) {
	text, _ := args[0].(string)
	return f.patterns[args[1].(int)].match(text, &f.left)
}

// Nesting returns the depth of nested brackets, also of those in texts and comments: it protects the parser, so it cannot use
// it.
func Nesting(text string) (deepest int) {
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

// withPosition returns a one-line error with the position.
func withPosition(err error) error {
	if at, ok := err.(*file.Error); ok {
		return fmt.Errorf("line %d, column %d: %s", at.Line, at.Column+1, at.Message)
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("%s", first)
}

// Keep reports whether a message meets the condition. Size is the length of its texts in bytes.
func (f *Filter) Keep(message any, size int) (bool, error) {
	if f.left = maxWork - f.reads*size/readParts; f.left < 0 {
		return false, tooMuchWork(size)
	}
	out, err := f.vm.Run(f.program, message)
	if f.left < 0 {
		return false, tooMuchWork(size)
	}
	if err != nil {
		return false, withPosition(err)
	}
	keep, _ := out.(bool)
	return keep, nil
}

// StepsUsed returns the steps for the last message, at most.
func (f *Filter) StepsUsed() int { return f.steps + maxWork - f.left }

func tooMuchWork(size int) error {
	return fmt.Errorf("it takes more than %d steps for this message, which has %d bytes; make its patterns simpler, or first ask for something that is quick, as in app == \"web\" and …", maxWork, size)
}
