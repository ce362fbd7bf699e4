package browser

import (
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0"

// TestOwnHost: a name that is not this machine's is refused, however it is written.
func TestOwnHost(t *testing.T) {
	f := func(host string, want bool) {
		t.Helper()
		if got := OwnHost(&http.Request{Host: host}, "belfry01", ""); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
	for _, host := range []string{"127.0.0.1:8080", "127.0.0.1", "[::1]:8080", "[::1]", "localhost:8080", "LOCALHOST.", "belfry01", "Belfry01:9000", "192.0.2.7:8080"} {
		f(host, true)
	}
	for _, host := range []string{"", "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example:8080", ":8080", "belfry01.evil.example"} {
		f(host, false)
	}
}

func TestName(t *testing.T) {
	f := func(agent, want string) {
		t.Helper()
		if got := Name(agent); got != want {
			t.Errorf("%q is %q, want %q", agent, got, want)
		}
	}
	f("", "")
	f("curl/8.14.1", "curl 8.14.1")
	f("Python-urllib/3.13 more", "Python-urllib 3.13")
	f(firefox, "Firefox 142 on Linux")
	f("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36", "Chrome 140 on Windows")
	f("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0", "Edge 140 on Windows")
	f("Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36", "Chrome 140 on Android")
	f("Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1", "Safari 18 on iPhone")
	f("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15", "Safari 18 on macOS")
	f("Mozilla/5.0 (compatible)", "a browser")
	f("Mozilla/5.0 Firefox/x", "Firefox")
	f("Mozilla/5.0 Chrome/"+strings.Repeat("9", 1000), "Chrome "+strings.Repeat("9", 53))
	f(strings.Repeat("ü", 1000), strings.Repeat("ü", 60))
	f("<script>alert(1)</script> x", "<script>alert(1)< script>") // text, and shown as that
	f("a\u202eb\x00\xff\u200bc", "abc")
}

func FuzzName(f *testing.F) {
	for _, s := range []string{"", firefox, "curl/8", "Mozilla/", "Mozilla/5.0 Version/\xff iPad", "\u202e/\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, agent string) {
		got := Name(agent)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > Length {
			t.Errorf("%q gave %q", agent, got)
		}
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Errorf("%q gave %q, which holds %U", agent, got, r)
			}
		}
	})
}
