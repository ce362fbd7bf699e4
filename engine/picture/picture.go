// Package picture detects the type and the size of a picture and rejects what browsers should not be sent.
package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"

	"golang.org/x/image/webp"

	"belfry"
)

// Header is what the header of a picture says. The image is not decoded: a thousand bytes may decompress into gigabytes.
type Header struct {
	Type          string // media type
	Width, Height int    // 0 for SVG, which has no pixels
}

// maxPixels is the longest edge of a picture.
const maxPixels = 8192

// ReadHeader detects the type of a picture from its content.
func ReadHeader(b []byte) (h Header, err error) {
	for _, format := range []struct {
		mediaType, begins string
		config            func(io.Reader) (image.Config, error)
	}{
		{"image/png", "\x89PNG", png.DecodeConfig},
		{"image/jpeg", "\xff\xd8", jpeg.DecodeConfig},
		{"image/gif", "GIF8", gif.DecodeConfig},
		{"image/webp", "RIFF", webp.DecodeConfig},
	} {
		if !bytes.HasPrefix(b, []byte(format.begins)) {
			continue
		}
		c, err := format.config(bytes.NewReader(b))
		if err != nil {
			break
		}
		if c.Width < 1 || c.Height < 1 || c.Width > maxPixels || c.Height > maxPixels {
			return h, belfry.Errorf(belfry.BadParameter, "the picture has %d × %d pixels; 1 × 1 to %d × %d are taken", c.Width, c.Height, maxPixels, maxPixels)
		}
		return Header{format.mediaType, c.Width, c.Height}, nil
	}
	if looksLikeText(b) {
		return Header{Type: "image/svg+xml"}, checkSVG(b)
	}
	return h, belfry.Errorf(belfry.UnsupportedMediaType, "the body is no picture that is known; send PNG, JPEG, GIF, WebP or SVG")
}

func looksLikeText(b []byte) bool {
	b = bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(b, []byte("<"))
}

// checkSVG requires a complete XML document whose root is svg, without entity declarations, which can expand without end.
// Scripts are not searched for; pictures are served with headers that prevent them from running.
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
				return belfry.Errorf(belfry.UnsupportedMediaType, "the SVG declares entities; replace them with their text")
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
