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

// grid formats rows as a table for a terminal: column names first, numbers aligned to the right.
type grid struct {
	names    []string
	rows     [][]string
	width    int // of the terminal; 0: unlimited
	height   int // lines that fit, column names included; 0: unlimited
	coloured bool
}

// longestCell limits a value. No terminal shows more of it.
const longestCell = 2000

// narrowest is the minimum width to which columns are cut.
const narrowest = 6

// read reads CSV.
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

// cell formats a value as one line without control characters.
func cell(text string) string {
	if len(text) > longestCell {
		text = strings.ToValidUTF8(text[:longestCell], "") + "…"
	}
	text = strings.NewReplacer("\r\n", "↵", "\n", "↵", "\t", " ").Replace(text)
	return client.Printable(strings.ToValidUTF8(text, "�"))
}

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
		b.WriteString("… " + strconv.Itoa(hidden) + " more rows do not fit\n")
	}
	return b.String()
}

// layout returns the width of each column, and which ones are aligned to the right.
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

// narrow shortens the widest columns until the line fits, or all are narrowest.
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

// colour adds the colour of a status. The text stays, so the colour is not needed.
func colour(status string) string {
	code := map[string]string{"0": "32", "1": "33", "2": "35", "3": "31", "-": "1;31", "?": "90"}[status]
	if code == "" {
		return status
	}
	return "\x1b[" + code + "m" + status + "\x1b[0m"
}

// clip cuts a text to a width and marks the cut.
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

// width returns the number of terminal columns of a text.
func width(text string) (n int) {
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is 2 for wide East Asian characters and emoji, 0 for combining marks.
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
