package main

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"belfry/client"
)

// grid is an answer as a person reads it: columns below their names, numbers to the right.
type grid struct {
	names    []string
	rows     [][]string
	width    int // of the terminal; 0: any
	height   int // lines that fit, with those of the names; 0: any
	coloured bool
}

// longestCell is how much of a value is kept. No terminal shows more of it in a line.
const longestCell = 2000

// narrowest is how far a column is cut before the line is.
const narrowest = 6

// read takes CSV.
func (t *grid) read(r io.Reader) error {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	for {
		fields, err := in.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		row := make([]string, len(fields))
		for i, f := range fields {
			row[i] = cell(f)
		}
		if t.names == nil {
			t.names = row
		} else {
			t.rows = append(t.rows, row)
		}
	}
}

// cell is a value on one line, without anything that would steer a terminal.
func cell(text string) string {
	if len(text) > longestCell {
		text = strings.ToValidUTF8(text[:longestCell], "") + "…"
	}
	text = strings.NewReplacer("\r\n", "↵", "\n", "↵", "\t", " ").Replace(text)
	return client.Printable(strings.ToValidUTF8(text, "�"))
}

// String draws the table.
func (t *grid) String() string {
	rows, hidden := t.rows, 0
	if t.height > 3 && len(rows) > t.height-2 {
		rows = rows[:t.height-3]
		hidden = len(t.rows) - len(rows)
	}
	widths, right := t.layout(rows)
	var b strings.Builder
	rule := make([]string, len(t.names))
	for i, w := range widths {
		rule[i] = strings.Repeat("-", w)
	}
	t.draw(&b, t.names, widths, right, false)
	t.draw(&b, rule, widths, right, false)
	for _, row := range rows {
		t.draw(&b, row, widths, right, t.coloured)
	}
	if hidden > 0 {
		b.WriteString("… " + strconv.Itoa(hidden) + " more do not fit here\n")
	}
	return b.String()
}

// layout finds how wide each column is, and which stand to the right.
func (t *grid) layout(rows [][]string) (widths []int, right []bool) {
	widths, right = make([]int, len(t.names)), make([]bool, len(t.names))
	for i, name := range t.names {
		widths[i] = width(name)
		numbers := 0
		right[i] = true
		for _, row := range rows {
			widths[i] = max(widths[i], width(row[i]))
			if row[i] == "" {
				continue
			}
			_, err := strconv.ParseFloat(row[i], 64)
			right[i] = right[i] && err == nil
			numbers++
		}
		right[i] = right[i] && numbers > 0 && !isStatus(name) && name != "id"
	}
	t.narrow(widths)
	return widths, right
}

// narrow takes from the widest column until the line fits, or nothing can be taken any more.
func (t *grid) narrow(widths []int) {
	if t.width <= 0 {
		return
	}
	total := 2 * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for total > t.width {
		sorted := slices.Sorted(slices.Values(widths))
		widest := sorted[len(sorted)-1]
		if widest <= narrowest {
			return
		}
		next := narrowest // down to the second widest, so that this ends soon
		for _, w := range sorted {
			if w < widest {
				next = max(next, w)
			}
		}
		i := slices.Index(widths, widest)
		cut := min(total-t.width, max(1, widest-next))
		widths[i] -= cut
		total -= cut
	}
}

// draw writes one line.
func (t *grid) draw(b *strings.Builder, row []string, widths []int, right []bool, coloured bool) {
	var line strings.Builder
	used := 0
	for i, text := range row {
		gap := min(i, 1) * 2
		room := widths[i]
		if t.width > 0 {
			room = min(room, t.width-used-gap)
		}
		if room <= 0 {
			break
		}
		line.WriteString(strings.Repeat(" ", gap))
		text = clip(text, room)
		blank := strings.Repeat(" ", room-width(text))
		if coloured && isStatus(t.names[i]) {
			text = colour(text)
		}
		if right[i] {
			line.WriteString(blank + text)
		} else {
			line.WriteString(text + blank)
		}
		used += gap + room
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

func isStatus(name string) bool { return name == "status" || name == "previous" }

// colour shows a status in its colour. The sign stays, so nobody depends on it.
func colour(status string) string {
	code := map[string]string{"0": "32", "1": "33", "2": "35", "3": "31", "-": "1;31", "?": "90"}[status]
	if code == "" {
		return status
	}
	return "\x1b[" + code + "m" + status + "\x1b[0m"
}

// clip cuts a text to some columns, with a mark where it was cut.
func clip(text string, room int) string {
	if width(text) <= room {
		return text
	}
	if room <= 0 {
		return ""
	}
	used, end := 0, 0
	for i, r := range text {
		w := runeWidth(r)
		if used+w > room-1 {
			break
		}
		used += w
		end = i + utf8.RuneLen(r)
	}
	return text[:end] + "…"
}

// width is how many columns of a terminal a text takes.
func width(text string) (n int) {
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is 2 for the wide characters of East Asia and for pictures, 0 for marks on the character before.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff,
		r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}
