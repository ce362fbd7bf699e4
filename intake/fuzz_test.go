package intake

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"belfry"
)

// FuzzSend sends arbitrary bodies, plain and atomic: every row is accounted for, and every record can be read back.
func FuzzSend(f *testing.F) {
	for _, body := range []string{
		"type,resname,object,class,view,parentview,i1,i2,log,ip,timestamp\ndata,r,o,C,r,,1,x,,192.0.2.1,\nlog,r,o,,,,,,text,,\ncreateview,r,,V,v,r\n",
		"type,object,i1\ndata,known,1\ndata,known,\"1\n\"\ndata,known,NaN\ndata,other,2\n",
		"type,resname,object,class,view,i1\ndata,r,\x00,C,r,1\ndata,r,MAIN,C,r,1\ndata,r,*,C,r,1e308\ndata,r, x,C,r,1\n",
		"\xef\xbb\xbftype;object;i1\n",
		"type,object,i1,timestamp\ndata,known,1,1e300\ndata,known,1,-1\ndata,known,1,2026-11-15T02:59:59.999999999+00:00\n",
		"name\nx\n",
	} {
		f.Add(body, false, uint8(belfry.CSV))
		f.Add(body, true, uint8(belfry.CSV))
	}
	for _, row := range []string{
		`{"type":"data","resname":"r","object":"o","class":"C","view":"r","i1":1,"i2":"x","ip":"192.0.2.1"}`,
		`{"type":"data","object":"known","i7":1,"timestamp":1763176447}`, `{"type":"log","object":"known","log":"\u0000\ud800","x":[{}]}`,
	} {
		f.Add(row+"\n{}\n"+row+"\n", false, uint8(belfry.NDJSON))
		f.Add("["+row+",{},"+row+"]", true, uint8(belfry.JSON))
	}
	f.Fuzz(func(t *testing.T, body string, atomic bool, format uint8) {
		b := newBench(t)
		b.provision(t, "r")
		b.send(t, "type,resname,object,class,view,i1\ndata,r,known,C,r,1\n", Options{})
		code, answer, err := b.Send(context.Background(), b.Who, strings.NewReader(body), Options{Atomic: atomic, Format: belfry.Format(format % 3)})
		if err != nil {
			if _, ok := errors.AsType[*belfry.Error](err); !ok {
				t.Fatalf("not an error for a client: %v", err)
			}
			return
		}
		var r belfry.Report
		if err := json.Unmarshal(answer, &r); err != nil {
			t.Fatal(err)
		}
		if r.Accepted+r.Rejected+r.Discarded != r.Rows || (code == 200) != (r.Rejected == 0) {
			t.Fatalf("%d %+v", code, r)
		}
		for _, rec := range b.Records {
			if _, err := belfry.DecodeRecord(rec.Append(nil)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
