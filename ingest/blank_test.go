package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"belfry"
)

// TestBlankLines: blank lines are no rows, count as lines, and do not hide what is wrong with a line among them; however the
// body arrives.
func TestBlankLines(t *testing.T) {
	const maxRow = 64
	many := strings.Repeat("\n", fullBuffer+7) + strings.Repeat(" \t\r\n", fullBuffer/4+3)
	for body, want := range map[string][]string{
		"\n\r\n  \nx\n\n\t\n \r\ny\n\n\n": {"4 x", "8 y"},
		"x\n" + many + "y\n":              {"1 x", fmt.Sprintf("%d y", 2+strings.Count(many, "\n"))},
		"\n\n \rx\n":                      {`3 " \rx"`},
		"\n\n\r\r\nx":                     {`3 "\r"`, "4 x"},
		"\n\n" + strings.Repeat(" ", maxRow) + "\nx\n":          {"4 x"},
		"\n\n" + strings.Repeat(" ", maxRow) + "\r\nx\n":        {"4 x"},
		"\n\n" + strings.Repeat(" ", maxRow+1) + "\nx\n":        {"3 error", "4 x"},
		"\n\n" + strings.Repeat(" ", maxRow+1) + "\n\n\n \nx\n": {"3 error", "7 x"},
		"\n\n  ":   {},
		"\n\n  \r": {},
	} {
		for how, r := range map[string]io.Reader{"whole": strings.NewReader(body), "by bytes": iotest.OneByteReader(strings.NewReader(body))} {
			c := newCSVReader(r, maxRow)
			got := []string{}
			for {
				fields, line, err := c.next()
				if errors.Is(err, io.EOF) {
					break
				}
				switch text := string(bytes.Join(fields, []byte(","))); {
				case err != nil:
					got = append(got, fmt.Sprintf("%d error", line))
				case strings.Contains(text, "\r"):
					got = append(got, fmt.Sprintf("%d %q", line, text))
				default:
					got = append(got, fmt.Sprintf("%d %s", line, text))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%.20q, %s: %q, want %q", body, how, got, want)
			}
		}
	}
}

// BenchmarkBlankLines reads blank lines, of which a body that is small when packed may have hundreds of millions.
func BenchmarkBlankLines(b *testing.B) {
	const size = 16 << 20
	for _, line := range []string{"\n", "\r\n", " \n"} {
		blanks := strings.Repeat(line, size/len(line))
		for format, body := range map[belfry.Format]string{belfry.CSV: "x\n" + blanks, belfry.NDJSON: blanks, belfry.JSON: blanks} {
			b.Run(fmt.Sprintf("%s %q", format, line), func(b *testing.B) {
				b.SetBytes(size)
				for range b.N {
					var s source = newJSONReader(strings.NewReader(body), format, Limits{Row: 1 << 20, Columns: 100})
					if format == belfry.CSV {
						s = newCSVReader(strings.NewReader(body), 1<<20)
					}
					for {
						if _, _, err := s.next(); err != nil {
							break
						}
					}
				}
			})
		}
	}
}
