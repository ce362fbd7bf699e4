package body

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// deadlines notes until when the client may be silent.
type deadlines struct {
	http.ResponseWriter
	all []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.all = append(d.all, t)
	return nil
}

// TestBodyHasCome: a client may be silent for as long as it takes to unpack and apply what has come of its body.
func TestBodyHasCome(t *testing.T) {
	var conn deadlines
	in := &source{body: strings.NewReader("ab"), ctl: http.NewResponseController(&conn), idle: time.Minute}
	for _, want := range []error{nil, io.EOF} {
		conn.all = nil
		if _, err := in.Read(make([]byte, 2)); err != want || len(conn.all) != 2 || conn.all[0].IsZero() || !conn.all[1].IsZero() {
			t.Errorf("%v, silent until %s", err, conn.all)
		}
	}
}
