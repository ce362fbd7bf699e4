package app

import (
	"fmt"
	"io"
	"strings"
)

// announce prints the first password, which is not shown again.
func announce(w io.Writer, url, user, password string) {
	lines := []string{"First start: an administrator has been created.", ""}
	if url != "" { // none while the service does not run
		lines = append(lines, "    open      "+url)
	}
	lines = append(lines,
		"    user      "+user,
		"    password  "+password,
		"",
		"Save it now: it is not shown again, and only its hash is stored.",
	)
	bar := strings.Repeat("=", 70)
	fmt.Fprintf(w, "\n%s\n\n", bar)
	for _, l := range lines {
		fmt.Fprintf(w, "  %s\n", l)
	}
	fmt.Fprintf(w, "\n%s\n\n", bar)
}
