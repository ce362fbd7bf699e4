// Package script runs the JavaScript of users over messages, in processes of their own.
//
// Built-in functions of the language cannot be interrupted, and some inputs exhaust the stack or the memory of the process, so it
// must be possible to lose the process. A Runner sends messages to a worker: a process of the same program, which calls Worker
// and does nothing else. Each customer has one worker at most, and the customers take turns.
//
//	Runner ──► Workers: whose turn is it ──► process ──pipe──► Worker: script
package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"modernc.org/quickjs"

	"belfry/collect/filter"
)

// script is the JavaScript of a user, with a function message(m). It has no input or output, and limits of time, memory and
// depth, where the interpreter enforces them. It runs only in a script worker. It is for one goroutine.
type script struct {
	text  string
	limit Limit
	vm    *quickjs.VM
}

// Limit limits the run time of a script, at its start and for each message.
type Limit struct{ Start, Message time.Duration }

const (
	defaultMessageTime = 200 * time.Millisecond // per message
	defaultStartTime   = 2 * time.Second        // for its top level
	maxMemory          = 16 << 20
	maxFeeds           = 100      // rows per message
	maxLength          = 64 << 10 // bytes
	maxDepth           = 500      // nested brackets
)

// Feed is what a script sends about an object.
type Feed struct {
	Log      bool           `json:"log"` // Text is a log line; otherwise Values are indicators
	Object   string         `json:"object"`
	Text     string         `json:"text"`
	Values   map[string]any `json:"values"` // i1, i2, …
	Resource string         `json:"resource"`
	Class    string         `json:"class"`
	View     string         `json:"view"`
}

// Around the user's script. What it needs it takes before the user's code can change it.
const (
	prelude = `"use strict";
(() => {
	const stringify = JSON.stringify, parse = JSON.parse, string = String;
	let feeds = [];
	const feed = (f, where) => {
		if (feeds.length >= 100) throw new RangeError("a message may feed at most 100 objects");
		where = where || {};
		f.object = string(f.object);
		for (const k of ["resource", "class", "view"]) if (where[k] !== undefined) f[k] = string(where[k]);
		feeds.push(f);
	};
	globalThis.data = (object, values, where) => feed({object, values: Object(values)}, where);
	globalThis.log = (object, text, where) => feed({log: true, object, text: string(text)}, where);
	Object.defineProperty(globalThis, "__belfry", {value: (f, m) => {
		feeds = [];
		const kept = f(parse(m));
		if (kept === undefined) throw new TypeError("message(m) returned nothing; return m to keep the message, or null to drop it");
		if (kept !== null && typeof kept !== "object") throw new TypeError("message(m) returned a " + typeof kept + "; return m, or null");
		return stringify({kept, feeds});
	}});
})();`
	callMessage = `(m) => __belfry(message, m)`
)

// newScript compiles a script and runs its top level.
func newScript(text string, limit Limit) (*script, error) {
	s := &script{text: text, limit: limit}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s, nil
}

// open makes a new virtual machine and loads the script.
func (s *script) open() (err error) {
	if s.vm, err = quickjs.NewVM(); err != nil {
		return fmt.Errorf("start the script: %w", err)
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	s.vm.SetMemoryLimit(maxMemory)
	if _, err := s.vm.Eval(prelude, quickjs.EvalGlobal); err != nil { // our code: no time limit
		return fmt.Errorf("prepare the script: %w", err)
	}
	if err := s.vm.SetEvalTimeout(s.limit.Start); err != nil {
		return err
	}
	if _, err := s.vm.Eval(s.text, quickjs.EvalGlobal); err != nil {
		return explain(err)
	}
	kind, err := s.vm.Eval(`typeof message`, quickjs.EvalGlobal)
	if err != nil {
		return explain(err)
	}
	if kind != "function" {
		return errors.New("the script has no function message(m)")
	}
	return s.vm.SetEvalTimeout(s.limit.Message)
}

// close releases the virtual machine.
func (s *script) close() {
	if s.vm != nil {
		s.vm.Close()
		s.vm = nil
	}
}

var errTooLong = fmt.Errorf("message(m) returned more than %d MiB", longestResult>>20)

var errRanTooLong = errors.New("the script ran for too long")

// run calls message(m). It returns, as JSON, the resulting message and the feeds.
func (s *script) run(message []byte) (text string, err error) {
	if s.vm == nil {
		if err := s.open(); err != nil {
			return "", err
		}
	}
	out, err := s.vm.Call(callMessage, string(message))
	if err != nil {
		s.close() // its state is unknown; the next message gets a new one
		return "", explain(err)
	}
	text, ok := out.(string)
	if !ok {
		return "", errors.New("message(m) returned what cannot be written as JSON")
	}
	return text, nil
}

// ParseResult parses the text of a result: the message, nil if it was dropped, and the feeds.
func ParseResult(text []byte) (kept []byte, feeds []Feed, err error) {
	var answer struct {
		Kept  json.RawMessage `json:"kept"`
		Feeds []Feed          `json:"feeds"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, nil, fmt.Errorf("result of the script: %w", err)
	}
	if len(answer.Feeds) > maxFeeds {
		return nil, nil, fmt.Errorf("a message may feed at most %d objects", maxFeeds)
	}
	if len(answer.Kept) == 0 {
		return nil, nil, errors.New("the result of the script is not an answer")
	}
	if string(answer.Kept) == "null" {
		return nil, answer.Feeds, nil
	}
	return answer.Kept, answer.Feeds, nil
}

// check rejects a text before it gets to a worker.
func check(text string) error {
	if len(text) > maxLength {
		return fmt.Errorf("it has %d bytes, and a script may have %d", len(text), maxLength)
	}
	if depth := filter.Nesting(text); depth > maxDepth {
		return fmt.Errorf("it has brackets inside brackets, %d deep, and a script may have %d", depth, maxDepth)
	}
	return nil
}

// explain explains an error of the interpreter to the user.
func explain(err error) error {
	text := strings.TrimSpace(err.Error())
	var e *quickjs.Error
	errors.As(err, &e)
	switch {
	case strings.Contains(text, "interrupted"):
		return errRanTooLong
	case strings.Contains(text, "out of memory"), text == "null", text == "" && e != nil && e.Name == "InternalError": // there may be no memory left for the text
		return fmt.Errorf("the script used more than %d MiB of memory", maxMemory>>20)
	case strings.Contains(text, "stack overflow"):
		return errors.New("the script called itself too often")
	case text == "":
		return fmt.Errorf("the script failed with an error that has no text; it may have used more than %d MiB of memory", maxMemory>>20)
	}
	first, _, _ := strings.Cut(text, "\n")
	switch {
	case e != nil && e.LineNumber > 0:
		first += fmt.Sprintf(" (line %d, column %d)", e.LineNumber, e.ColumnNumber)
	case e != nil && stackLine(e.Stack) != "":
		first += " (line " + stackLine(e.Stack) + ")"
	}
	return errors.New(first)
}

// stackLine returns the line of the error in the user's script.
func stackLine(stack string) string {
	for frame := range strings.Lines(stack) {
		_, at, ok := strings.Cut(frame, "<eval>:")
		if !ok {
			continue
		}
		line, _, _ := strings.Cut(at, ":")
		return strings.Trim(line, ") \n")
	}
	return ""
}
