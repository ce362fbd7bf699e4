package collect

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"modernc.org/quickjs"
)

// Script is what a user wrote to look at messages: JavaScript with a function message(m). It has no input and no output, and
// is limited in time, memory and depth, as far as the language can be. It runs in a script worker and nowhere else. A Script is
// for one goroutine.
type Script struct {
	text  string
	limit scriptLimit
	vm    *quickjs.VM
}

// scriptLimit is how long a script may take.
type scriptLimit struct{ start, message time.Duration }

const (
	scriptTime   = 200 * time.Millisecond // for one message
	scriptStart  = 2 * time.Second        // until it is ready for the first
	scriptMemory = 16 << 20
	scriptFeeds  = 100      // objects that one message may feed
	scriptLength = 64 << 10 // bytes of its text
	scriptDepth  = 500      // brackets inside brackets
)

// Feed is what a script sends about an object.
type Feed struct {
	Log      bool           `json:"log"` // Text is a line of its log, else Values are its indicators
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

// newScript reads a script and runs it once, so that it can set itself up.
func newScript(text string, limit scriptLimit) (*Script, error) {
	s := &Script{text: text, limit: limit}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s, nil
}

// open makes a fresh machine with the script in it.
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
	if _, err := s.vm.Eval(scriptBefore, quickjs.EvalGlobal); err != nil { // ours: however slow the machine is, it ends
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

// Close gives the machine back.
func (s *Script) Close() {
	if s.vm != nil {
		s.vm.Close()
		s.vm = nil
	}
}

// errTooLong is for a script that gives back more than any message has.
var errTooLong = fmt.Errorf("message(m) gave back more than %d MiB", longestResult>>20)

// errRanTooLong is for a script that takes more time than it has.
var errRanTooLong = errors.New("the script ran for too long")

// run shows a message to the script. It gives back, in JSON, what the script made of the message and what it feeds.
func (s *Script) run(message []byte) (text string, err error) {
	if s.vm == nil {
		if err := s.open(); err != nil {
			return "", err
		}
	}
	out, err := s.vm.Call(scriptCall, string(message))
	if err != nil {
		s.Close() // what it left behind may be anything; the next message finds a fresh one
		return "", scriptError(err)
	}
	text, ok := out.(string)
	if !ok {
		return "", errors.New("message(m) gave back what cannot be written as JSON")
	}
	return text, nil
}

// readResult reads what a script gave back: the message, nil when it dropped it, and what it feeds.
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

// checkScript refuses a text that no worker has to see.
func checkScript(text string) error {
	if len(text) > scriptLength {
		return fmt.Errorf("it has %d bytes, and a script may have %d", len(text), scriptLength)
	}
	if depth := nesting(text); depth > scriptDepth {
		return fmt.Errorf("it has brackets inside brackets, %d deep, and a script may have %d", depth, scriptDepth)
	}
	return nil
}

// scriptError says in the words of a user what went wrong, and where.
func scriptError(err error) error {
	text := strings.TrimSpace(err.Error())
	var e *quickjs.Error
	errors.As(err, &e)
	switch {
	case strings.Contains(text, "interrupted"):
		return errRanTooLong
	case strings.Contains(text, "out of memory"), text == "null", text == "" && e != nil && e.Name == "InternalError": // there may be no memory for the text
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

// stackLine finds the line where something failed. Frames of the program's own have a name of ours before it.
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
