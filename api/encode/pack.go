package encode

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Compressors reuses compressors, each of which holds some hundred kilobytes.
type Compressors struct{ gzip, zstd sync.Pool }

// compressor is a gzip.Writer or a zstd.Encoder.
type compressor interface {
	io.WriteCloser
	Reset(io.Writer)
}

// minCompressed is the length from which an answer is compressed. A shorter one fits in a packet or two anyway.
const minCompressed = 1 << 10

// Output writes an answer, compressed or not, which its first part decides. The answer is complete after Close.
type Output struct {
	w      io.Writer
	header http.Header
	pool   *sync.Pool
	name   string // of the encoding; empty: none
	z      compressor
	begun  bool
}

// Open returns the output to w of an answer with header h, for a client that sent Accept-Encoding.
func (p *Compressors) Open(w io.Writer, h http.Header, accept string) *Output {
	o := &Output{w: w, header: h, name: encoding(accept)}
	switch o.name {
	case "gzip":
		o.pool = &p.gzip
	case "zstd":
		o.pool = &p.zstd
	}
	return o
}

func (o *Output) Write(b []byte) (int, error) {
	if !o.begun {
		o.begun = true
		if o.name != "" && len(b) >= minCompressed {
			o.z = o.compressor()
			o.z.Reset(o.w)
			o.header.Set("Content-Encoding", o.name)
		}
	}
	if o.z != nil {
		return o.z.Write(b)
	}
	return o.w.Write(b)
}

func (o *Output) compressor() compressor {
	if z, ok := o.pool.Get().(compressor); ok {
		return z
	}
	if o.name == "zstd" {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(256<<10))
		if err != nil {
			panic(err) // the options are wrong
		}
		return z
	}
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is wrong
	}
	return z
}

// Close ends the answer.
func (o *Output) Close() error {
	if o.z == nil {
		return nil
	}
	return o.z.Close()
}

// Release returns the compressor to the pool, also after an answer that failed half way.
func (o *Output) Release() {
	if o.z != nil {
		o.z.Reset(io.Discard)
		o.pool.Put(o.z)
	}
}

// encoding chooses the encoding of an answer; empty is none. Of those that the client accepts equally, zstd is the cheapest.
func encoding(accept string) string {
	best, name := 0.0, ""
	for _, known := range []string{"zstd", "gzip"} {
		if q := quality(accept, known); q > best {
			best, name = q, known
		}
	}
	return name
}

// quality returns the weight of an encoding in Accept-Encoding, from 0 to 1.
func quality(accept, name string) float64 {
	star := 0.0
	for entry := range strings.SplitSeq(accept, ",") {
		coding, rest, _ := strings.Cut(entry, ";")
		coding = strings.ToLower(strings.TrimSpace(coding))
		q := 1.0
		if value, ok := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(rest, " ", "")), "q="); ok {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil || !(n >= 0 && n <= 1) {
				continue
			}
			q = n
		}
		switch coding {
		case name, "x-" + name:
			return q
		case "*":
			star = q
		}
	}
	return star
}
