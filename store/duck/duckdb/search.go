package duckdb

// #include "search.h"
import "C"

import (
	"errors"
	"unsafe"

	"belfry/query"
	"belfry/store/duck/dialect"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// AddSearch registers the function for searches by word. A regular expression for the same would be compiled for each
// branch of a statement on each thread, which takes milliseconds, and would take three times as long for every text.
func AddSearch(c *Conn) error {
	f := bindings.CreateScalarFunction()
	defer bindings.DestroyScalarFunction(&f)
	text, yes := bindings.CreateLogicalType(bindings.TypeVarchar), bindings.CreateLogicalType(bindings.TypeBoolean)
	defer bindings.DestroyLogicalType(&text)
	defer bindings.DestroyLogicalType(&yes)
	bindings.ScalarFunctionSetName(f, dialect.SearchFunction)
	bindings.ScalarFunctionAddParameter(f, text)
	bindings.ScalarFunctionAddParameter(f, text)
	bindings.ScalarFunctionSetReturnType(f, yes)
	bindings.ScalarFunctionSetFunction(f, C.search_texts)
	if bindings.RegisterScalarFunction(c.c, f) != bindings.StateSuccess {
		return errors.New("the engine does not take the function " + dialect.SearchFunction)
	}
	return nil
}

// searchRest tests the texts that search_texts could not decide. A panic here would end the process, as nothing on the
// engine's thread recovers it.
//
//export searchRest
func searchRest(search, texts unsafe.Pointer, out *C.uint8_t, rows C.uint64_t) (ok C.int) {
	defer func() {
		if recover() != nil {
			ok = 0
		}
	}()
	m, err := query.ParseSearch((*stringT)(search).view())
	if err != nil {
		return 0
	}
	list := unsafe.Slice((*stringT)(texts), rows)
	for i, state := range unsafe.Slice(out, rows) {
		if state == C.SEARCH_ASK {
			unsafe.Slice(out, rows)[i] = C.SEARCH_NO
			if m.Matches(list[i].view()) {
				unsafe.Slice(out, rows)[i] = C.SEARCH_YES
			}
		}
	}
	return 1
}

// view returns the text without copying it out of the engine's memory.
func (s *stringT) view() string {
	if s.n <= inlineLen {
		return unsafe.String(&s.inline[0], s.n)
	}
	return unsafe.String(*(**byte)(unsafe.Pointer(&s.ptr)), s.n)
}

// quickSearch returns what search_text returns for a text: C.SEARCH_NO, C.SEARCH_YES or C.SEARCH_ASK.
func quickSearch(search, text string) int {
	return int(C.search_text((*C.char)(unsafe.Pointer(unsafe.StringData(search))), C.size_t(len(search)),
		(*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.size_t(len(text))))
}
