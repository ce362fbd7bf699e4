package api

import (
	"io"
	"mime"
	"net/http"
	"strings"

	"belfry"
	"belfry/api/body"
	"belfry/api/input"
)

// mediaType checks the Content-Type of a body against those that the endpoint reads. Without one it is the first of them.
func mediaType(r *http.Request, known ...string) (string, error) {
	text := r.Header.Get("Content-Type")
	if text == "" {
		return known[0], nil
	}
	typ, params, err := mime.ParseMediaType(text)
	if err == nil {
		for _, k := range known {
			if typ == k {
				return k, charset(params["charset"])
			}
		}
	}
	return "", belfry.Errorf(belfry.UnsupportedMediaType, "cannot read a body of Content-Type %q here; send Content-Type: %s", text, strings.Join(known, " or "))
}

func charset(name string) error {
	if name == "" || strings.EqualFold(name, "utf-8") || strings.EqualFold(name, "utf8") {
		return nil
	}
	return belfry.Errorf(belfry.UnsupportedMediaType, "cannot read charset %q; send UTF-8, as in Content-Type: text/csv; charset=utf-8", name)
}

// openBody opens the body of a request; turns, in which it is decoded, may be nil.
func openBody(w *answer, r *request, limit int64, turns *body.Turns) (io.ReadCloser, error) {
	in, err := body.Open(w, r.Request, body.Options{Limit: limit, Idle: r.limits.Idle, Slot: r.slot, Memory: r.memory(), Turns: turns})
	w.body = in
	if err != nil {
		if refused := r.checkRights(); refused != nil {
			return nil, refused
		}
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{checkedReader{in, r}, in}, nil
}

// checkedReader checks after each read whether the request still has its rights, so that nothing that comes later is applied.
type checkedReader struct {
	io.Reader
	r *request
}

func (c checkedReader) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if refused := c.r.checkRights(); refused != nil {
		return 0, refused
	}
	return n, err
}

// readWhole reads a body that is needed as a whole. It is counted as memory of the request, weight times its length; a small
// one is not, since the number of connections limits those. A compressed one that may be long is decompressed in
// turns, see compute.
func readWhole(w *answer, r *request, limit int64, weight int) ([]byte, error) {
	var turns *body.Turns
	if limit > smallBody {
		turns = &body.Turns{Limiter: &r.server.computing, Context: r.ctx(), Customer: r.customer, Last: true}
		defer turns.Pause()
	}
	in, err := openBody(w, r, limit, turns)
	if err != nil {
		return nil, inFormat(belfry.JSON, err)
	}
	defer in.Close()
	text := make([]byte, 0, 512)
	counted := 0
	for {
		n, err := in.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err == io.EOF {
			return text, nil
		}
		if err != nil {
			return nil, inFormat(belfry.JSON, err)
		}
		if len(text) < cap(text) {
			continue
		}
		text = append(text, 0)[:len(text)] // grow by a quarter or more
		if cap(text) <= smallBody+smallBody/2 {
			continue
		}
		if err := r.memory().Grow(int64((cap(text) - counted) * weight)); err != nil {
			return nil, err
		}
		counted = cap(text)
	}
}

// smallBody is the longest JSON body of an administration path.
const smallBody = 4 << 10

// fields reads the body of a request into a struct, see input.ReadFields.
func (s *Server) fields(w *answer, r *request, into any) error {
	if _, err := mediaType(r.Request, "application/json"); err != nil {
		return err
	}
	text, err := small(w, r)
	if err != nil {
		return err
	}
	return input.ReadFields(text, into)
}

// small reads a small body.
func small(w *answer, r *request) ([]byte, error) {
	return readWhole(w, r, smallBody, 1)
}
