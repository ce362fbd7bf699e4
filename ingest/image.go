package ingest

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"belfry"
)

// imageKind is what the first bytes of an image tell. Nothing is unpacked: a picture of a thousand bytes may unfold into
// gigabytes, and that is the browser's to refuse.
type imageKind struct {
	mediaType     string
	width, height int // 0 for SVG, which has no pixels
}

// maxPixels is the longest edge of a picture.
const maxPixels = 8192

// readImage finds out what an image really is, whatever its sender says.
func readImage(b []byte) (k imageKind, err error) {
	for _, format := range []struct {
		mediaType string
		size      func([]byte) (width, height int, ok bool)
	}{
		{"image/png", pngSize}, {"image/jpeg", jpegSize}, {"image/gif", gifSize}, {"image/webp", webpSize},
	} {
		if w, h, ok := format.size(b); ok {
			k = imageKind{format.mediaType, w, h}
			if w < 1 || h < 1 || w > maxPixels || h > maxPixels {
				return k, belfry.Errorf(belfry.BadParameter, "the picture has %d × %d pixels; 1 × 1 to %d × %d are taken", w, h, maxPixels, maxPixels)
			}
			return k, nil
		}
	}
	if looksLikeText(b) {
		return imageKind{mediaType: "image/svg+xml"}, checkSVG(b)
	}
	return k, belfry.Errorf(belfry.UnsupportedMediaType, "the body is no picture that is known; send PNG, JPEG, GIF, WebP or SVG")
}

func pngSize(b []byte) (w, h int, ok bool) {
	if len(b) < 33 || !bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")) {
		return 0, 0, false
	}
	return edge(binary.BigEndian.Uint32(b[16:])), edge(binary.BigEndian.Uint32(b[20:])), true
}

// edge keeps a length from becoming negative where an int is short.
func edge(n uint32) int { return int(min(n, 1<<30)) }

func gifSize(b []byte) (w, h int, ok bool) {
	if len(b) < 13 || !bytes.HasPrefix(b, []byte("GIF87a")) && !bytes.HasPrefix(b, []byte("GIF89a")) {
		return 0, 0, false
	}
	return int(binary.LittleEndian.Uint16(b[6:])), int(binary.LittleEndian.Uint16(b[8:])), true
}

// jpegSize goes from marker to marker until one begins a frame.
func jpegSize(b []byte) (w, h int, ok bool) {
	if !bytes.HasPrefix(b, []byte{0xff, 0xd8, 0xff}) {
		return 0, 0, false
	}
	for at := 2; at+4 <= len(b); {
		if b[at] != 0xff {
			return 0, 0, false
		}
		marker := b[at+1]
		if marker == 0xff { // filling
			at++
			continue
		}
		if marker == 0x01 || marker >= 0xd0 && marker <= 0xd7 { // stand alone
			at += 2
			continue
		}
		length := int(binary.BigEndian.Uint16(b[at+2:]))
		frame := marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
		if frame && at+9 <= len(b) && length >= 8 {
			return int(binary.BigEndian.Uint16(b[at+7:])), int(binary.BigEndian.Uint16(b[at+5:])), true
		}
		if frame || marker == 0xd9 || marker == 0xda || length < 2 { // the end, or data before any frame
			return 0, 0, false
		}
		at += 2 + length
	}
	return 0, 0, false
}

func webpSize(b []byte) (w, h int, ok bool) {
	if len(b) < 30 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WEBP" {
		return 0, 0, false
	}
	switch string(b[12:16]) {
	case "VP8X":
		return 1 + three(b[24:]), 1 + three(b[27:]), true
	case "VP8L":
		if b[20] != 0x2f {
			return 0, 0, false
		}
		bits := binary.LittleEndian.Uint32(b[21:])
		return 1 + int(bits&0x3fff), 1 + int(bits>>14&0x3fff), true
	case "VP8 ":
		if b[23] != 0x9d || b[24] != 0x01 || b[25] != 0x2a {
			return 0, 0, false
		}
		return int(binary.LittleEndian.Uint16(b[26:])) & 0x3fff, int(binary.LittleEndian.Uint16(b[28:])) & 0x3fff, true
	}
	return 0, 0, false
}

// three reads a number of three bytes.
func three(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

func looksLikeText(b []byte) bool {
	b = bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(b, []byte("<"))
}

// checkSVG wants a whole XML document whose root is svg, and no entities of its own: they can unfold without end. Scripts
// are not looked for. Pictures are served so that none runs, which no search could make sure of.
func checkSVG(b []byte) error {
	d := xml.NewDecoder(bytes.NewReader(b))
	d.Strict = true
	depth, root := 0, false
	for {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return belfry.Errorf(belfry.UnsupportedMediaType, "the body begins like SVG and is not proper XML: %.200s", err)
		}
		switch t := t.(type) {
		case xml.Directive:
			if strings.Contains(string(t), "[") {
				return belfry.Errorf(belfry.UnsupportedMediaType, "the SVG declares entities of its own; write their text in their place")
			}
		case xml.StartElement:
			if !root && t.Name.Local != "svg" {
				return belfry.Errorf(belfry.UnsupportedMediaType, "the body is XML or HTML and no SVG: it begins with <%.40s>", t.Name.Local)
			}
			root = true
			if depth++; depth > maxSVGDepth {
				return belfry.Errorf(belfry.UnsupportedMediaType, "the SVG has elements in more than %d levels; make it flatter", maxSVGDepth)
			}
		case xml.EndElement:
			depth--
		}
	}
	if !root || depth != 0 {
		return belfry.Errorf(belfry.UnsupportedMediaType, "the SVG is not whole: an element does not end")
	}
	return nil
}

const maxSVGDepth = 200
