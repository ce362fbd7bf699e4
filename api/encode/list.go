package encode

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
)

// maxList is the size of a list in bytes; a page of long entries has fewer of them.
const maxList = 4 << 20

// List writes a list under its name, as much of it as a page holds, and whether there is more.
func List[T json.Marshaler](w *bufio.Writer, name string, list []T, more bool) error {
	fmt.Fprintf(w, "{%q:[", name) // a failure shows at Flush
	size := 0
	for i, entry := range list {
		text, err := entry.MarshalJSON()
		if err != nil {
			return err
		}
		text = bytes.TrimSuffix(text, []byte("\n"))
		if size += len(text); size > maxList && i > 0 {
			more = true
			break
		}
		if i > 0 {
			w.WriteByte(',')
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "],\"more\":%t}\n", more)
	return w.Flush()
}
