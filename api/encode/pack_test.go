package encode

import "testing"

func TestEncoding(t *testing.T) {
	f := func(accept, want string) {
		t.Helper()
		if got := encoding(accept); got != want {
			t.Errorf("%q: %q, want %q", accept, got, want)
		}
	}
	f("", "")
	f("identity", "")
	f("gzip", "gzip")
	f("GZIP", "gzip")
	f("x-gzip", "gzip")
	f("deflate, gzip, br, zstd", "zstd")
	f("gzip;q=1.0, zstd;q=0.5", "gzip")
	f("gzip; q=0", "")
	f("*", "zstd")
	f("zstd;q=0, *", "gzip")
	f("gzip;q=2", "")
	f("gzip;q=NaN", "")
	f("br", "")
}
