package intake

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"belfry"
	"belfry/engine/enginetest"
)

// memoryJournal forgets what it is given: a disk would make a fuzzer a hundred times slower.
type memoryJournal struct{ end belfry.Position }

func (j *memoryJournal) Append(payloads ...[]byte) (first belfry.Position, err error) {
	first = j.end + 1
	j.end += belfry.Position(len(payloads))
	return first, nil
}

// FuzzProvision returns packages arbitrary bodies: every row is accounted for, every record can be read back, and what
// stands there afterwards is exported in a form that changes nothing when it is taken back.
func FuzzProvision(f *testing.F) {
	cat, err := enginetest.LoadCatalog()
	if err != nil {
		f.Fatal(err)
	}
	var names []string
	for _, pt := range cat.Packages() {
		names = append(names, pt.Name)
	}
	for i, name := range names {
		pt := cat.Package(name)
		f.Add(uint8(i), strings.Join(pt.Columns(), ",")+"\nx\n")
		for _, body := range []string{
			"name,view\nx,MAIN\nV,x\nr,V\nx,\n", "name,ip_address_fqdn\nx,192.0.2.1\nx,\nr,::1\n", "name,community,port\nx,***,\nx,secret,1\nx,***,0\n",
			"name,resname,view,class,object_1,ip\nx,r,r,C,a,192.0.2.1\no,r,V,,,\nx,r,,D\n", "name,view,posx,posy,width,bg\nx,MAIN,10,20,,b\nx,,15,,\nMAIN,MAIN\n*,*\n",
			"name,from,to,text\nx,V,r,\"a\nb\"\n", "name,text,size,colour,place\nx,<b>,12,red,0 0\nL\n", "name,target,picture\nx,V\n x,r\nx \x00,\xff\n", "name,view\n\"x\n", "name;view\nx;V\n",
		} {
			f.Add(uint8(i), body)
		}
	}
	f.Fuzz(func(t *testing.T, pkg uint8, body string) {
		b := newBenchOn(t, &memoryJournal{})
		b.provision(t, "r")
		b.bulk(t, false, "view", "name,view,resname,class,autoarrange,bg,posx\nV,MAIN,,,linear,b,10\nI,r,r,folder,,,\n", Options{})
		b.bulk(t, false, "label", "name,view,text\nL,V,a\n", Options{})
		b.bulk(t, false, "log-trap-receiver", "name,community\nT,secret\n", Options{})
		b.send(t, "type,resname,object,class,view,i1,ip,host,object_1,object_5\ndata,r,o,C,I,1,192.0.2.1,h,a,e\n", Options{})
		before := len(b.Records)
		code, answer, err := b.Provision(context.Background(), b.Who, names[int(pkg)%len(names)], strings.NewReader(body), Options{})
		if err != nil {
			if _, ok := errors.AsType[*belfry.Error](err); !ok {
				t.Fatalf("not an error for a client: %v", err)
			}
		} else {
			checkProvisioned(t, code, answer)
		}
		for _, rec := range b.Records[before:] {
			if _, err := belfry.DecodeRecord(rec.Append(nil)); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range names {
			b.takesBack(t, name)
		}
	})
}

// checkProvisioned holds a report to its arithmetic: each row that was accepted made something, changed it, or did not.
func checkProvisioned(t *testing.T, code int, answer []byte) {
	t.Helper()
	var r belfry.Report
	if err := json.Unmarshal(answer, &r); err != nil {
		t.Fatal(err)
	}
	want := 200
	switch {
	case r.Rejected > 0 && r.Rejected == r.Rows:
		want = 400
	case r.Rejected > 0:
		want = 207
	}
	done := r.Created.Resources + r.Created.Views + r.Created.Elements + r.Updated + r.Unchanged
	if code != want || r.Accepted+r.Rejected+r.Discarded != r.Rows || done > r.Accepted || done+r.Created.Objects < r.Accepted || r.Removed != 0 {
		t.Fatalf("%d %s", code, answer)
	}
}

// takesBack exports what a package has made and provisions it again.
func (b *bench) takesBack(t *testing.T, pkg string) {
	t.Helper()
	text := b.export(t, pkg)
	code, r := b.bulk(t, false, pkg, text, Options{})
	if code != 200 || r.Unchanged != r.Rows {
		t.Fatalf("%s: %d %+v\n%s", pkg, code, r, text)
	}
	if again := b.export(t, pkg); again != text {
		t.Fatalf("%s: exported\n%s\nand then\n%s", pkg, text, again)
	}
}
