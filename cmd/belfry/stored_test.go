package main

import (
	"flag"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var storeFolder = flag.Bool("store", false, "keep a data folder of this version in testdata/stored, once, before its release")

const asCSV, asJSON = "Content-Type: text/csv", "Content-Type: application/json"

// storedQueries is what a later version must answer as the version did that wrote the folder, but for fields that it adds.
var storedQueries = []string{
	"SELECT * FROM objectdata ORDER BY timestamp ASC, object ASC",
	"SELECT object, MEAN(i1), MAX(i2) FROM objectdata GROUP BY object ORDER BY object ASC",
	"SELECT TIMEBUCKET(timestamp, '1d'), COUNT(*), MEAN(i1) FROM objectdata GROUP BY TIMEBUCKET(timestamp, '1d')",
	"SELECT * FROM objectlog ORDER BY timestamp ASC",
	"SELECT object, log FROM objectlog WHERE log LIKE '%failed%'",
	"SELECT * FROM syslog ORDER BY timestamp ASC",
	"SELECT * FROM objectstatus ORDER BY object ASC",
	"SELECT * FROM events WHERE type IN ('alarm', 'acknowledge', 'note', 'manage') ORDER BY timestamp ASC, id ASC",
}

// TestEarlierVersions: this version goes on with the data folder of each earlier one, as a kill has left it.
func TestEarlierVersions(t *testing.T) {
	t.Parallel()
	if *storeFolder {
		keepFolder(t)
	}
	folders, err := filepath.Glob("testdata/stored/*")
	if err != nil || len(folders) == 0 {
		t.Fatal("no folders are stored", err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(filepath.Join(folder, "answers"))
			if err != nil {
				t.Fatal(err)
			}
			p := newProcess(t, func(p *process) {
				keepForever(p)
				p.tar("-xzf", filepath.Join(folder, "data.tar.gz"))
			})
			key, err := os.ReadFile(filepath.Join(folder, "key"))
			if err != nil {
				t.Fatal(err)
			}
			if got := p.storedAnswers(string(key)); got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			p.logIn("default", "ann", "pw of ann")
			p.must("POST", "/api/send", "type,resname,object,class,i1\ndata,web01,cpu,cpu,1\n", string(key), asCSV)
			p.stop()
			if said := p.belfry("verify", "--data", p.data); !strings.HasSuffix(said, "no problems") {
				t.Errorf("belfry verify: %s", said)
			}
		})
	}
}

const storedRows = `type,resname,object,class,view,timestamp,i1,i2,log
data,web01,cpu,cpu,web01,2026-09-30T10:00:00Z,12.5,3,
data,web01,cpu,cpu,web01,2026-11-17T10:00:00Z,50,4,
data,web01,cpu,cpu,web01,,99.25,5,
data,web01,disk C,disk,web01,,81,,
data,web02,disk C,disk,web02,,10,,
data,web02,mode,mode,web02,,1,,
log,web01,messages,messages,web01,2026-11-17T10:00:00Z,,,disk C is fine
log,web01,messages,messages,web01,,,,disk C failed: köaxial 😀
`

// keepFolder stores the folder of a service of this version that has something of everything, and what it answers.
func keepFolder(t *testing.T) {
	version := strings.Fields(strings.ReplaceAll((&process{t: t}).belfry("--version"), ",", " "))[1]
	folder := filepath.Join("testdata/stored", version)
	if _, err := os.Stat(folder); err == nil {
		t.Fatalf("there is %s: what a release has written does not change", folder)
	}
	p := newProcess(t, keepForever)
	p.user("default", "ann", "operator")
	admin := p.logIn("default", "admin", adminPassword)
	key := "X-Api-Key: " + p.key("stored", "readwritedelete")
	p.must("PUT", "/api/classes/disk", `{"indicators":[{"n":1,"name":"Used","unit":"%","type":"number","thresholds":[{"when":">= 80","status":1},{"when":">= 95","status":3}]}]}`, key, asJSON)
	p.must("POST", "/api/provisioning/custom", "name\nweb01\nweb02\n", key, asCSV)
	p.must("PUT", "/api/policies/strict", `{"kind":"resource","item":"web01","thresholds":[{"class":"disk","n":1,"thresholds":[{"when":">= 70","status":2}]}]}`, admin, asJSON)
	p.must("POST", "/api/send", storedRows, key, asCSV)
	p.must("POST", "/api/send?collection=syslog", "timestamp,resname,host,message\n2026-11-17T10:00:00Z,web01,web01,link is down\n", key, asCSV)
	p.must("POST", "/api/ackmanagenote/objects", `{"items":"disk C","resname":"web01","ack":"a new one is ordered","note":"rack 7"}`, key, asJSON)
	p.must("POST", "/api/ackmanagenote/resources", `{"items":"web02","isunmanaged":true,"unmanageifred":false,"collectunmanage":true,"collectorunmanage":true,"unmanagenote":"moving"}`, key, asJSON)
	answers := p.storedAnswers(key)
	p.crash()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	p.tar("-czf", filepath.Join(folder, "data.tar.gz"))
	for name, text := range map[string]string{"answers": answers, "key": key} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// keepForever configures a service that removes nothing because of its age.
func keepForever(p *process) {
	text := "limits: {stop: 5m}\nretention: {events: 0, objectdata: 0, objectdata.hour: 0, objectdata.day: 0, objectlog: 0, syslog: 0}\n"
	if err := os.WriteFile(p.config, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// tar packs or unpacks the data folder.
func (p *process) tar(mode, file string) {
	p.t.Helper()
	if err := os.MkdirAll(p.data, 0o700); err != nil {
		p.t.Fatal(err)
	}
	if said, err := exec.Command("tar", mode, file, "-C", p.data, "--exclude=*.sock", "--sparse", ".").CombinedOutput(); err != nil {
		p.t.Fatalf("tar: %v\n%s", err, said)
	}
}

func (p *process) must(method, target, body string, headers ...string) {
	p.t.Helper()
	if res := p.ask(method, target, body, headers...); res.StatusCode/100 != 2 || res.StatusCode == 207 {
		p.t.Fatalf("%s %s: %d %s", method, target, res.StatusCode, res.body)
	}
}

func (p *process) storedAnswers(key string) string {
	p.t.Helper()
	var b strings.Builder
	for _, q := range storedQueries {
		target := "/api/sql?wt=ndjson&rows=1000&from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z&q="
		res := p.ask("GET", target+url.QueryEscape(q), "", key)
		if res.StatusCode != 200 {
			p.t.Fatalf("%s: %d %s", q, res.StatusCode, res.body)
		}
		b.WriteString("> " + q + "\n" + res.body)
	}
	return b.String()
}
