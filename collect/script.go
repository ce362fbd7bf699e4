package collect

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"modernc.org/quickjs"
)

// Script is the JavaScript of a user, with a function message(m). It has no input or output, and limits of time, memory and
// depth, as far as the interpreter enforces them. It runs only in a script worker. A Script is for one goroutine.
type Script struct {
	text  string
	limit scriptLimit
	vm    *quickjs.VM
}

// scriptLimit limits the run time.
type scriptLimit struct{ start, message time.Duration }

const (
	scriptTime   = 200 * time.Millisecond // per message
	scriptStart  = 2 * time.Second        // for its top level
	scriptMemory = 16 << 20
	scriptFeeds  = 100      // rows per message
	scriptLength = 64 << 10 // bytes
	scriptDepth  = 500      // nested brackets
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
	scriptBefore = `"use strict";
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
		if (kept === undefined) throw new TypeError("message(m) gave nothing back; give back m to keep the message, or null to drop it");
		if (kept !== null && typeof kept !== "object") throw new TypeError("message(m) gave back a " + typeof kept + "; give back m, or null");
		return stringify({kept, feeds});
	}});
})();`
	scriptCall = `(m) => __belfry(message, m)`
)

// newScript compiles a script and runs its top level.
func newScript(text string, limit scriptLimit) (*Script, error) {
	s := &Script{text: text, limit: limit}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s, nil
}

// open makes a new virtual machine and loads the script.
func (s *Script) open() (err error) {
	if s.vm, err = quickjs.NewVM(); err != nil {
		return fmt.Errorf("start the script: %w", err)
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	s.vm.SetMemoryLimit(scriptMemory)
	if _, err := s.vm.Eval(scriptBefore, quickjs.EvalGlobal); err != nil { // our code: no time limit
		return fmt.Errorf("prepare the script: %w", err)
	}
	if err := s.vm.SetEvalTimeout(s.limit.start); err != nil {
		return err
	}
	if _, err := s.vm.Eval(s.text, quickjs.EvalGlobal); err != nil {
		return scriptError(err)
	}
	kind, err := s.vm.Eval(`typeof message`, quickjs.EvalGlobal)
	if err != nil {
		return scriptError(err)
	}
	if kind != "function" {
		return errors.New("the script has no function message(m)")
	}
	return s.vm.SetEvalTimeout(s.limit.message)
}

// Close releases the virtual machine.
func (s *Script) Close() {
	if s.vm != nil {
		s.vm.Close()
		s.vm = nil
	}
}

var errTooLong = fmt.Errorf("message(m) gave back more than %d MiB", longestResult>>20)

var errRanTooLong = errors.New("the script ran for too long")

// run calls message(m). It returns, as JSON, the resulting message and the feeds.
func (s *Script) run(message []byte) (text string, err error) {
	if s.vm == nil {
		if err := s.open(); err != nil {
			return "", err
		}
	}
	out, err := s.vm.Call(scriptCall, string(message))
	if err != nil {
		s.Close() // its state is unknown; the next message gets a new one
		return "", scriptError(err)
	}
	text, ok := out.(string)
	if !ok {
		return "", errors.New("message(m) gave back what cannot be written as JSON")
	}
	return text, nil
}

// readResult parses what a script returned: the message, nil if it was dropped, and the feeds.
func readResult(text []byte) (kept []byte, feeds []Feed, err error) {
	var answer struct {
		Kept  json.RawMessage `json:"kept"`
		Feeds []Feed          `json:"feeds"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, nil, fmt.Errorf("what the script gave back: %w", err)
	}
	if len(answer.Feeds) > scriptFeeds {
		return nil, nil, fmt.Errorf("a message may feed at most %d objects", scriptFeeds)
	}
	if len(answer.Kept) == 0 {
		return nil, nil, errors.New("what the script gave back is no answer")
	}
	if string(answer.Kept) == "null" {
		return nil, answer.Feeds, nil
	}
	return answer.Kept, answer.Feeds, nil
}

// checkScript rejects a text before it gets to a worker.
func checkScript(text string) error {
	if len(text) > scriptLength {
		return fmt.Errorf("it has %d bytes, and a script may have %d", len(text), scriptLength)
	}
	if depth := nesting(text); depth > scriptDepth {
		return fmt.Errorf("it has brackets inside brackets, %d deep, and a script may have %d", depth, scriptDepth)
	}
	return nil
}

// scriptError explains an error of the interpreter to the user.
func scriptError(err error) error {
	text := strings.TrimSpace(err.Error())
	var e *quickjs.Error
	errors.As(err, &e)
	switch {
	case strings.Contains(text, "interrupted"):
		return errRanTooLong
	case strings.Contains(text, "out of memory"), text == "null", text == "" && e != nil && e.Name == "InternalError": // there may be no memory left for the text
		return fmt.Errorf("the script used more than %d MiB of memory", scriptMemory>>20)
	case strings.Contains(text, "stack overflow"):
		return errors.New("the script called itself too often")
	case text == "":
		return fmt.Errorf("the script failed with an error that has no text; it may have used more than %d MiB of memory", scriptMemory>>20)
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
