package input

import (
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	const readKey = "7b0c4f0e-1111-4aaa-8bbb-000000000001"
	f := func(in, want string) {
		t.Helper()
		if got := Mask(in); got != want {
			t.Errorf("Mask(%q) = %q, want %q", in, got, want)
		}
	}
	f("/api/sql", "/api/sql")
	f("/api/sql?q=a&rows=2", "/api/sql?q=a&rows=2")
	f("/api/sql?apikey=abc&q=a", "/api/sql?apikey=***&q=a")
	f("/api/sql?q=a&APIKEY=abc", "/api/sql?q=a&apikey=***")
	f("/api/sql?%61pikey=abc", "/api/sql?apikey=***")
	f("/api/sql?+apikey=abc", "/api/sql?apikey=***")
	f("/api/sql?a%zz=abc", "/api/sql?apikey=***")
	f("/api/sql?a=b;apikey=abc", "/api/sql?a=b&apikey=***")
	f("/api/sql?key="+readKey, "/api/sql?key=***")
	f("/api/sql?key="+strings.ReplaceAll(readKey, "-", "%2D"), "/api/sql?key=***")
	f("/api/sql?"+readKey, "/api/sql?***")
	f("/api/"+readKey, "/api/***")
}
