package client

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"belfry"

	"github.com/google/go-cmp/cmp"
)

// cutAll cuts a text, reading it a byte at a time so that every place is the end of some read.
func cutAll(t *testing.T, text string, rows, limit int) (*splitter, []*part) {
	t.Helper()
	c, err := newSplitter(iotest.OneByteReader(strings.NewReader(text)), limit)
	if err != nil {
		t.Fatal(err)
	}
	var parts []*part
	for n := 1; ; n++ {
		p, err := c.next(n, rows)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
		if p.last {
			return c, parts
		}
	}
}

func TestCut(t *testing.T) {
	f := func(text string, rows int, want ...string) {
		t.Helper()
		_, parts := cutAll(t, text, rows, MaxPart)
		var got []string
		for _, p := range parts {
			got = append(got, string(p.body))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q in parts of %d:\n%s", text, rows, diff)
		}
	}
	f("", 2, "")
	f("a,b", 2, "a,b\n")
	f("a,b\n1,2\n3,4\n5,6", 2, "a,b\n1,2\n3,4\n", "a,b\n5,6")
	f("a,b\n1,2\n3,4\n", 2, "a,b\n1,2\n3,4\n")
	f("a,b\n1,2\n3,4\n\n \n", 2, "a,b\n1,2\n3,4\n\n \n")
	f("a\r\n1\r\n2\r\n", 1, "a\r\n1\r\n", "a\r\n2\r\n")
	f("\xef\xbb\xbf\n\na\n1\n2\n", 1, "a\n1\n", "a\n2\n")
	f("a,b\n\"1\n1\",2\n3,4\n", 1, "a,b\n\"1\n1\",2\n", "a,b\n3,4\n")
	f("a,b\n\"1\"\"\n\",2\n3,4\n", 1, "a,b\n\"1\"\"\n\",2\n", "a,b\n3,4\n")
	f("a,b\n1,\"2\"\r\n3,\"4\"\r", 1, "a,b\n1,\"2\"\r\n", "a,b\n3,\"4\"\r")
	f("\"a\nb\"\n1\n2\n", 1, "\"a\nb\"\n1\n", "\"a\nb\"\n2\n")
	// Damaged rows cost a line, as on the server.
	f("a,b\n\"1,2\n3,4\n5,6\n", 1, "a,b\n\"1,2\n", "a,b\n3,4\n", "a,b\n5,6\n")
	f("a,b\n1\"1,2\n3,4\n", 1, "a,b\n1\"1,2\n", "a,b\n3,4\n")
	f("a,b\n\"1\"1,2\n3,4\n", 1, "a,b\n\"1\"1,2\n", "a,b\n3,4\n")
	f("a,b\n\"1\n2\",3\"\n4,5\n", 1, "a,b\n\"1\n2\",3\"\n", "a,b\n4,5\n")
	f("a,b\n\"1\n2\"x,3\n4,5\n", 1, "a,b\n\"1\n", "a,b\n2\"x,3\n", "a,b\n4,5\n")
}

func TestCutSize(t *testing.T) {
	text := "head\n" + strings.Repeat("12345678\n", 10)
	_, parts := cutAll(t, text, 1000, 5+3*9)
	var sizes []int
	for _, p := range parts {
		sizes = append(sizes, len(p.rows))
	}
	if want := []int{3, 3, 3, 1}; !slices.Equal(sizes, want) {
		t.Errorf("rows of the parts: %v, want %v", sizes, want)
	}
	c, err := newSplitter(strings.NewReader("h\n1\n"+strings.Repeat("x", 100)+"\n2\n"), 50)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := c.next(1, 10); err != nil || len(p.rows) != 1 {
		t.Fatalf("the part before the long row: %v, %v", p, err)
	}
	if _, err := c.next(2, 10); err == nil || !strings.Contains(err.Error(), "line 3:") {
		t.Errorf("a row longer than a part: %v", err)
	}
}

// TestCutUTF16: what no server takes is not sent.
func TestCutUTF16(t *testing.T) {
	_, err := newSplitter(strings.NewReader("\xff\xfea\x00\n\x00"), MaxPart)
	if belfry.CodeOf(err) != belfry.BadCSV || !strings.Contains(err.Error(), "UTF-16") {
		t.Errorf("got %v", err)
	}
}

func TestCutReadError(t *testing.T) {
	for _, broken := range []error{fmt.Errorf("the disk is gone"), io.ErrUnexpectedEOF} {
		c, err := newSplitter(io.MultiReader(strings.NewReader("h\n1\n2"), iotest.ErrReader(broken)), MaxPart)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.next(1, 10); !errors.Is(err, broken) || !strings.Contains(err.Error(), "line 3: ") {
			t.Errorf("got %v", err) // the row that is not whole must not be sent
		}
	}
}

// TestLines holds the lines of rows, and the translation of the lines of parts, against counting.
func TestLines(t *testing.T) {
	text := "\n\"he\nad\",b\n\n1,1\n\"2\n2\",\n \n3,\n4,\n5,"
	want := []int{5, 6, 9, 10, 11}
	for rows := 1; rows < 7; rows++ {
		_, parts := cutAll(t, text, rows, MaxPart)
		var got []int
		for _, p := range parts {
			for i, r := range p.rows {
				got = append(got, r.line)
				inBody := 1 + bytes.Count(p.body[:r.from], []byte{'\n'})
				e := p.translate(rowErrors(inBody))
				if e[0].Line != r.line {
					t.Errorf("parts of %d rows: line %d of part %d is line %d of the file, got %d", rows, inBody, p.number, r.line, e[0].Line)
				}
				if p.rowOf(r.line) != i {
					t.Errorf("line %d is row %d, got %d", r.line, i, p.rowOf(r.line))
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("parts of %d rows: lines %v, want %v", rows, got, want)
		}
	}
	_, parts := cutAll(t, text, 10, MaxPart)
	if i := parts[0].rowOf(7); i != 1 {
		t.Errorf("line 7 lies in row 1, got %d", i)
	}
}

// FuzzCut: the parts together are the file, and read by another reader they have the records of the file.
func FuzzCut(f *testing.F) {
	for _, s := range []string{"", "a,b\n1,2\n", "a\r\n\"1\r\n\"\r\n2", "\xef\xbb\xbfa\n\n\"x\"\"\n\",1\n", "a\n\"\n1\n2\n", "a\n\"1\"x\n", "\n \n\"h\nh\"\n1\n\r\n2"} {
		f.Add(s, 1)
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, rows int) {
		rows = 1 + (rows&0xff)%5
		if _, err := newSplitter(strings.NewReader(text), MaxPart); belfry.CodeOf(err) == belfry.BadCSV {
			return // UTF-16
		}
		c, parts := cutAll(t, text, rows, MaxPart)
		joined := bytes.Clone(c.header)
		for i, p := range parts {
			rest, ok := bytes.CutPrefix(p.body, c.header)
			if !ok {
				t.Fatalf("part %d does not begin with the header %q: %q", p.number, c.header, p.body)
			}
			if len(p.rows) > rows || len(p.rows) < rows && !p.last || len(p.rows) == 0 && i > 0 {
				t.Fatalf("part %d of %d has %d rows", p.number, len(parts), len(p.rows))
			}
			joined = append(joined, rest...)
		}
		left := strings.TrimPrefix(text, string(byteOrderMark))
		skipped := strings.TrimSuffix(strings.TrimSuffix(left+"\n", string(joined)), string(joined)+"\n")
		if !strings.HasSuffix(left, string(joined)) && !strings.HasSuffix(left+"\n", string(joined)) || strings.Trim(skipped, " \t\r\n") != "" {
			t.Fatalf("the parts of %q together are %q", text, joined)
		}
		whole, err := records(joined)
		if err != nil || len(whole) == 0 {
			return // not something the other reader understands
		}
		got := whole[:1:1]
		for _, p := range parts {
			list, err := records(p.body)
			if err != nil {
				t.Fatalf("part %q of %q: %v", p.body, text, err)
			}
			if !slices.Equal(list[0], whole[0]) {
				t.Fatalf("part %d has the header %q, want %q", p.number, list[0], whole[0])
			}
			got = append(got, list[1:]...)
		}
		if diff := cmp.Diff(whole, got); diff != "" {
			t.Fatalf("%q in parts of %d:\n%s", text, rows, diff)
		}
	})
}

func records(text []byte) ([][]string, error) {
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord = -1
	return r.ReadAll()
}
