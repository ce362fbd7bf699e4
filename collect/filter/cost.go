package filter

import (
	"fmt"
	"reflect"
	regex "regexp/syntax"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
)

// The cost of a filter is limited twice.
//
// When it is provisioned, by its size: every operation is a step; a predicate over a list counts once per element, and a pattern
// counts its instructions. Functions that read a whole text are counted per byte. Operations that could make a list or text longer
// than the message are not part of the language.
//
// When a message is filtered, by its length: reading its texts and matching patterns may take maxWork steps of about ten
// nanoseconds. If that is not enough, the message is kept unchanged, as with every other failure of a filter.

const (
	maxSteps = 2000
	maxWork  = 300_000
	// maxReads bounds what functions take for a byte, in parts of a step. A message of 2000 bytes never takes all of maxWork.
	maxReads  = 600
	readParts = 4
)

// TurnSteps is after how many steps other filters of the customer should run.
const TurnSteps = 30_000

// ListSize is the length that lists of a message are assumed to have.
const ListSize = 100

// functions are the functions that a filter may call.
var functions = map[string]bool{
	"all": true, "any": true, "none": true, "one": true, "count": true,
	"len": true, "lower": true, "upper": true, "trim": true, "trimPrefix": true, "trimSuffix": true,
	"hasPrefix": true, "hasSuffix": true, "indexOf": true, "lastIndexOf": true, "first": true, "last": true,
	"int": true, "float": true, "string": true, "abs": true, "ceil": true, "floor": true, "round": true, "date": true, "duration": true,
}

// readCosts are the costs of functions and operators per byte, in parts of a step. Non-ASCII letters make lower and upper slow.
var readCosts = map[string]int{
	"lower": 12, "upper": 12, "trim": 1, "indexOf": 1, "lastIndexOf": 1, "len": 1, "string": 1, "int": 1, "float": 1, "date": 1, "duration": 1,
	"contains": 1, "in": 1,
}

// methods are the methods of devicetime that a filter may call.
var methods = map[string]bool{
	"Hour": true, "Minute": true, "Second": true, "Day": true, "Weekday": true, "Month": true, "Year": true, "YearDay": true,
	"Before": true, "After": true, "Equal": true, "IsZero": true, "Unix": true, "UTC": true,
}

// checkCost rejects a condition that is too expensive or uses something outside the language. It returns the steps per
// message, and those per byte in parts of a step.
func checkCost(n ast.Node, text string) (steps, reads int, err error) {
	c := cost{text: text, times: 1}
	steps = c.steps(n)
	switch {
	case c.err != nil:
	case steps > maxSteps:
		c.err = fmt.Errorf("it takes up to %d steps for a message, and a filter may take %d; use a script", steps, maxSteps)
	case c.reads > maxReads:
		c.err = fmt.Errorf("its functions read whole texts too often: this costs %d, and a filter may cost %d, where lower and upper count as 12 and others as 1; "+
			"write (?i) in a pattern in place of lower, put several words into one pattern, or use a script", c.reads, maxReads)
	}
	return steps, c.reads, c.err
}

type cost struct {
	text  string
	times int // how often the current node is evaluated
	reads int
	err   error
}

// read adds the cost per byte of an operation.
func (c *cost) read(operation string) {
	c.reads = min(c.reads+c.times*readCosts[operation], maxReads+1)
}

// refuse records the first error.
func (c *cost) refuse(n ast.Node, format string, args ...any) int {
	if c.err == nil {
		c.err = at(n, c.text, fmt.Sprintf(format, args...))
	}
	return 0
}

// at returns an error with the position of a node.
func at(n ast.Node, text, message string) error {
	e := &file.Error{Location: n.Location(), Message: message}
	return withPosition(e.Bind(file.NewSource(text)))
}

// steps returns the steps of a node. Above the limit it stops adding.
func (c *cost) steps(n ast.Node) int {
	switch n := n.(type) {
	case nil:
		return 0
	case *ast.IdentifierNode:
		if n.Value == "$env" { // the message as a whole, for which the compiler knows no types
			return c.refuse(n, "a filter has no $env; write only the name of the field")
		}
		return 1
	case *ast.NilNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode, *ast.PointerNode:
		return 1
	case *ast.UnaryNode:
		return c.sum(n.Node)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ConditionalNode:
		return c.sum(n.Cond, n.Exp1, n.Exp2)
	case *ast.ArrayNode:
		return c.sum(n.Nodes...)
	case *ast.ChainNode:
		return c.sum(n.Node)
	case *ast.MemberNode:
		return c.sum(n.Node, n.Property)
	case *ast.SliceNode:
		return c.sum(n.Node, n.From, n.To)
	case *ast.CallNode:
		return c.method(n)
	case *ast.BuiltinNode:
		return c.function(n)
	case *ast.PredicateNode:
		return c.sum(n.Node)
	case *ast.VariableDeclaratorNode:
		return c.refuse(n, "a filter has no variables; use a script")
	}
	return c.refuse(n, "a filter cannot have this; use a script")
}

func (c *cost) sum(nodes ...ast.Node) int {
	total := 1
	for _, n := range nodes {
		if total > maxSteps { // do not compile further patterns
			break
		}
		total = min(total+c.steps(n), maxSteps+1)
	}
	return total
}

func (c *cost) binary(n *ast.BinaryNode) int {
	switch n.Operator {
	case "..":
		return 1 + c.length(n)
	case "matches":
		pattern, ok := n.Right.(*ast.StringNode)
		if !ok {
			return c.refuse(n, "the pattern of matches must be a text in quotes")
		}
		return min(c.steps(n.Left)+c.pattern(pattern), maxSteps+1)
	case "|", "??", "**", "^":
		return c.refuse(n, "a filter has no operator %s; use a script", n.Operator)
	}
	c.read(n.Operator)
	return c.sum(n.Left, n.Right)
}

// pattern returns the number of instructions of a regular expression.
func (c *cost) pattern(n *ast.StringNode) int {
	re, err := regex.Parse(n.Value, regex.Perl)
	if err != nil {
		return c.refuse(n, "%s", err)
	}
	re = re.Simplify()
	if instructions(re, maxSteps) > maxSteps {
		return maxSteps + 1
	}
	program, err := regex.Compile(re)
	if err != nil {
		return c.refuse(n, "%s", err)
	}
	return min(len(program.Inst), maxSteps+1)
}

// instructions returns a lower bound of the instructions of a simplified regular expression, up to limit. Compiling one with a
// million instructions takes a second and hundreds of megabytes.
func instructions(re *regex.Regexp, limit int) (n int) {
	switch re.Op {
	case regex.OpLiteral:
		n = len(re.Rune)
	case regex.OpCapture:
		n = 2
	case regex.OpNoMatch, regex.OpConcat, regex.OpAlternate:
	default:
		n = 1
	}
	for _, sub := range re.Sub {
		if n > limit {
			break
		}
		n += instructions(sub, limit-n)
	}
	return n
}

// function returns the steps of a call. A predicate counts once per element.
func (c *cost) function(n *ast.BuiltinNode) int {
	if !functions[n.Name] {
		return c.refuse(n, "a filter has no function %s; use a script", n.Name)
	}
	c.read(n.Name)
	if len(n.Arguments) == 2 {
		if body, ok := n.Arguments[1].(*ast.PredicateNode); ok {
			return c.forEach(n.Arguments[0], body)
		}
	}
	return c.sum(n.Arguments...)
}

// forEach returns the steps of a predicate over a list. The elements of p are parts of one message, so reading each of them is
// reading the message once, unless the predicate reads another field.
func (c *cost) forEach(over ast.Node, body *ast.PredicateNode) int {
	steps, n, times := c.steps(over), c.length(over), c.times
	if _, isField := over.(*ast.IdentifierNode); !isField || readsField(body) {
		c.times = min(times*max(n, 1), maxReads+1)
	}
	steps = min(steps+n*c.steps(body), maxSteps+1)
	c.times = times
	return steps
}

// readsField reports whether a predicate reads a field of the message.
func readsField(n ast.Node) bool {
	f := fieldFinder(false)
	ast.Walk(&n, &f)
	return bool(f)
}

type fieldFinder bool

// Visit implements ast.Visitor.
func (f *fieldFinder) Visit(n *ast.Node) {
	if _, ok := (*n).(*ast.IdentifierNode); ok {
		*f = true
	}
}

// length returns the maximum length of a list.
func (c *cost) length(n ast.Node) int {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return ListSize
	case *ast.ArrayNode:
		return len(n.Nodes)
	case *ast.SliceNode:
		return c.length(n.Node)
	case *ast.BinaryNode:
		from, ok1 := n.Left.(*ast.IntegerNode)
		to, ok2 := n.Right.(*ast.IntegerNode)
		if n.Operator == ".." && ok1 && ok2 && from.Value <= to.Value && uint(to.Value)-uint(from.Value) < maxSteps {
			return to.Value - from.Value + 1
		}
		if n.Operator == ".." {
			return c.refuse(n, "a range must be between two whole numbers, at most %d apart, such as 16..23", maxSteps)
		}
	}
	return c.refuse(n, "conditions about elements can be about p, a list in brackets or a range")
}

// method returns the steps of a method call. Only times have methods.
func (c *cost) method(n *ast.CallNode) int {
	m, ok := n.Callee.(*ast.MemberNode)
	if !ok {
		name := "this"
		if id, ok := n.Callee.(*ast.IdentifierNode); ok {
			name = id.Value
		}
		return c.refuse(n, "a filter has no function %s", name)
	}
	name, ok := m.Property.(*ast.StringNode)
	if !ok || !methods[name.Value] {
		return c.refuse(n, "a filter cannot call this; use a script")
	}
	return c.sum(append([]ast.Node{m.Node}, n.Arguments...)...)
}

// checkStrings rejects concatenation of texts, with which a filter could exhaust the memory.
func checkStrings(n ast.Node, text string) error {
	f := &stringsCheck{text: text}
	ast.Walk(&n, f)
	return f.err
}

type stringsCheck struct {
	text string
	err  error
}

// Visit implements ast.Visitor.
func (s *stringsCheck) Visit(n *ast.Node) {
	b, ok := (*n).(*ast.BinaryNode)
	if !ok || b.Operator != "+" || s.err != nil {
		return
	}
	if t := b.Type(); t == nil || t.Kind() == reflect.String || t.Kind() == reflect.Interface {
		s.err = at(b, s.text, "a filter cannot put texts together; use a script")
	}
}
