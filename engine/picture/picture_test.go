package picture

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"runtime"
	"strings"
	"testing"

	"belfry"
)

// drawn encodes a picture with the standard library.
func drawn(t testing.TB, format string, w, h int) []byte {
	t.Helper()
	m := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.White})
	var b bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&b, m)
	case "jpeg":
		err = jpeg.Encode(&b, m, nil)
	case "gif":
		err = gif.Encode(&b, m, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// webps are three small pictures, one of each kind, as common tools write them.
var webps = map[string]string{
	"lossy":    "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA",
	"lossless": "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==",
	"extended": "UklGRh4AAABXRUJQVlA4WAoAAAAQAAAAAQAAAgAAQUxQSAAAAAA=",
}

func TestReadHeader(t *testing.T) {
	f := func(b []byte, want Header) {
		t.Helper()
		if got, err := ReadHeader(b); err != nil || got != want {
			t.Errorf("%.20q: %v, %v; want %v", b, got, err, want)
		}
	}
	f(drawn(t, "png", 17, 40), Header{"image/png", 17, 40})
	f(drawn(t, "jpeg", 300, 2), Header{"image/jpeg", 300, 2})
	f(drawn(t, "gif", 5, 6), Header{"image/gif", 5, 6})
	f(unpacked(t, webps["lossy"]), Header{"image/webp", 1, 1})
	f(unpacked(t, webps["lossless"]), Header{"image/webp", 1, 1})
	f(unpacked(t, webps["extended"]), Header{"image/webp", 2, 3})
	f([]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), Header{Type: "image/svg+xml"})
	f([]byte("\xef\xbb\xbf<?xml version=\"1.0\"?>\n<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"x\">\n<svg><g/></svg>"), Header{Type: "image/svg+xml"})
}

func unpacked(t testing.TB, text string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReadHeaderRefuses(t *testing.T) {
	f := func(b []byte, code belfry.Code, want string) {
		t.Helper()
		_, err := ReadHeader(b)
		if belfry.CodeOf(err) != code || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s %q", b, err, code, want)
		}
	}
	f(drawn(t, "png", 8193, 1), belfry.BadParameter, "8193 × 1 pixels")
	f(drawn(t, "gif", 1, 8193), belfry.BadParameter, "1 × 8193 pixels")
	f(nil, belfry.UnsupportedMediaType, "no picture")
	f([]byte("%PDF-1.7"), belfry.UnsupportedMediaType, "no picture")
	f(drawn(t, "png", 1, 1)[:20], belfry.UnsupportedMediaType, "no picture")
	f([]byte{0xff, 0xd8, 0xff, 0xda, 0, 8, 0, 0, 0}, belfry.UnsupportedMediaType, "no picture")
	f([]byte("<html><svg/></html>"), belfry.UnsupportedMediaType, "no SVG")
	f([]byte("<svg><g></svg"), belfry.UnsupportedMediaType, "not proper XML")
	f([]byte("<svg><g>"), belfry.UnsupportedMediaType, "not whole")
	f([]byte(`<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>`), belfry.UnsupportedMediaType, "entities")
	f([]byte(strings.Repeat("<svg>", 300)), belfry.UnsupportedMediaType, "levels")
}

// FuzzReadHeader: reading a header takes little memory whatever it says, and an accepted size is within the limits.
func FuzzReadHeader(f *testing.F) {
	for _, format := range []string{"png", "jpeg", "gif"} {
		f.Add(drawn(f, format, 3, 2))
	}
	for _, text := range webps {
		f.Add(unpacked(f, text))
	}
	f.Add([]byte(`<svg><a b="c">d</a></svg>`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		k, err := ReadHeader(b)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; !looksLikeText(b) && used > 1<<20 {
			t.Errorf("%d bytes take %d bytes of memory", len(b), used)
		}
		if err != nil {
			if c := belfry.CodeOf(err); c != belfry.BadParameter && c != belfry.UnsupportedMediaType {
				t.Fatal(err)
			}
			return
		}
		if svg := k.Type == "image/svg+xml"; svg != (k.Width == 0) || k.Width > maxPixels || k.Height > maxPixels || svg != (k.Height == 0) {
			t.Errorf("%+v", k)
		}
	})
}
