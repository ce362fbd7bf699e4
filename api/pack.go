package api

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// packers keeps what packs answers from one to the next: each of them holds some hundred kilobytes.
type packers struct{ gzip, zstd sync.Pool }

// packer packs, into one writer after the other.
type packer interface {
	io.WriteCloser
	Reset(io.Writer)
}

// worthPacking is the shortest answer that is packed. A shorter one fits in a packet or two anyway.
const worthPacking = 1 << 10

// outlet is where an answer goes, packed or not, which its first part decides. What has been written to it is complete
// only after Close.
type outlet struct {
	w      io.Writer
	header http.Header
	pool   *sync.Pool
	name   string // of the encoding; empty: as it is
	z      packer
	begun  bool
}

// open makes the outlet of an answer for a client that accepts certain encodings.
func (p *packers) open(w io.Writer, head http.ResponseWriter, accept string) *outlet {
	o := &outlet{w: w, header: head.Header(), name: encoding(accept)}
	switch o.name {
	case "gzip":
		o.pool = &p.gzip
	case "zstd":
		o.pool = &p.zstd
	}
	return o
}

func (o *outlet) Write(b []byte) (int, error) {
	if !o.begun {
		o.begun = true
		if o.name != "" && len(b) >= worthPacking {
			o.z = o.take()
			o.z.Reset(o.w)
			o.header.Set("Content-Encoding", o.name)
		}
	}
	if o.z != nil {
		return o.z.Write(b)
	}
	return o.w.Write(b)
}

func (o *outlet) take() packer {
	if z, ok := o.pool.Get().(packer); ok {
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

// Close ends the answer properly.
func (o *outlet) Close() error {
	if o.z == nil {
		return nil
	}
	return o.z.Close()
}

// release gives the packer back, also after an answer that broke off.
func (o *outlet) release() {
	if o.z != nil {
		o.z.Reset(io.Discard)
		o.pool.Put(o.z)
	}
}

// encoding chooses the encoding of an answer; empty is none. Of what the client likes equally, zstd costs us least.
func encoding(accept string) string {
	best, name := 0.0, ""
	for _, known := range []string{"zstd", "gzip"} {
		if q := liking(accept, known); q > best {
			best, name = q, known
		}
	}
	return name
}

// liking is how much a client wants an encoding, from 0 to 1, as its Accept-Encoding says.
func liking(accept, name string) float64 {
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
