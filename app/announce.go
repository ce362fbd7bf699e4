package app

import (
	"fmt"
	"io"
	"strings"
)

// announce shows the first password. It is the only time anyone can read it.
func announce(w io.Writer, url, user, password string) {
	lines := []string{"First start: an administrator has been created.", ""}
	if url != "" { // none while the service does not run
		lines = append(lines, "    open      "+url)
	}
	lines = append(lines,
		"    user      "+user,
		"    password  "+password,
		"",
		"Keep it now: it is shown this once and stored nowhere in clear.",
	)
	bar := strings.Repeat("=", 70)
	fmt.Fprintf(w, "\n%s\n\n", bar)
	for _, l := range lines {
		fmt.Fprintf(w, "  %s\n", l)
	}
	fmt.Fprintf(w, "\n%s\n\n", bar)
}
