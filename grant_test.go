package belfry

import "testing"

func TestGrant(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		g, err := ParseGrant(text)
		got := g.String()
		if err != nil {
			got = "wrong"
		}
		if got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	f("0.0.0.0:514", "0.0.0.0:514")
	f("[::]:514-520", "0.0.0.0:514-520")
	f(":514", "0.0.0.0:514")
	f("[::ffff:192.0.2.1]:514", "192.0.2.1:514")
	f("[2001:DB8::1]:514", "[2001:db8::1]:514")
	for _, wrong := range []string{"", "514", "host:514", "1.2.3.4:0", "1.2.3.4:65536", "1.2.3.4:9-8", "1.2.3.4:1-2-3", "1.2.3.4:"} {
		f(wrong, "wrong")
	}
	covers := func(grant, listen string, want bool) {
		t.Helper()
		if got := (&Customer{Name: "B", Listen: []string{grant}}).MayListen(listen); got != want {
			t.Errorf("%s covers %s: %v", grant, listen, got)
		}
	}
	covers("0.0.0.0:514", "127.0.0.1:514", true)
	covers("0.0.0.0:514", "[::]:514", true)
	covers("127.0.0.1:514", "0.0.0.0:514", false)
	covers("127.0.0.1:514", "[::ffff:127.0.0.1]:514", true)
	covers("127.0.0.1:514-520", "127.0.0.1:520", true)
	covers("127.0.0.1:514-520", "127.0.0.1:521", false)
	overlap := func(a, b string, want bool) {
		t.Helper()
		if ListensOverlap(a, b) != want || ListensOverlap(b, a) != want {
			t.Errorf("%s and %s: not %v", a, b, want)
		}
	}
	overlap("0.0.0.0:514", "127.0.0.1:514", true)
	overlap("[::]:514", "127.0.0.1:514", true)
	overlap("[::1]:514", "127.0.0.1:514", false)
	overlap("127.0.0.2:514", "127.0.0.1:514", false)
	overlap(":514", ":515", false)
}
