package app

import (
	"bytes"
	"strings"
	"testing"
)

func TestAnnounce(t *testing.T) {
	var out bytes.Buffer
	announce(&out, "http://127.0.0.1:8080/ui/", "admin", "secret-word")
	if !strings.Contains(out.String(), "secret-word") || !strings.Contains(out.String(), "admin") || !strings.Contains(out.String(), "open      http://127.0.0.1:8080/ui/\n") {
		t.Error(out.String())
	}
}
