package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// misplaced are requests with a key where keys belong and where they do not. None of them is refused for good manners:
// each must be answered, and none of the answers may hold a key.
var misplaced = []func(base, key string, n int) *http.Request{
	func(base, key string, n int) *http.Request {
		return with(req("GET", base+"/api/session", ""), "X-Api-Key", key)
	},
	func(base, key string, n int) *http.Request { return req("GET", base+"/api/session?apikey="+key, "") },
	func(base, key string, n int) *http.Request { return req("GET", base+"/api/session?ApiKey="+key, "") },
	func(base, key string, n int) *http.Request {
		return req("GET", base+"/api/sql?apikey="+key+"&q=SELECT+name+FROM+objectstatus", "")
	},
	func(base, key string, n int) *http.Request {
		return req("GET", base+"/api/sql?apikey="+key+"&q="+url.QueryEscape(`SELECT "`+key+`" FROM objectstatus`), "")
	},
	func(base, key string, n int) *http.Request {
		return req("GET", base+"/api/sql?apikey="+key+"&q="+url.QueryEscape(`SELECT name FROM objectstatus WHERE name='`+key+`'`), "")
	},
	func(base, key string, n int) *http.Request {
		return req("GET", base+"/api/sql?apikey="+key+"&rows="+key+"&q=x", "")
	},
	func(base, key string, n int) *http.Request {
		return req("GET", base+"/api/sql?"+key+"=1&apikey="+key, "")
	},
	func(base, key string, n int) *http.Request {
		return req("GET", base+"/api/sql?"+escaped(key)+"&q=x", "")
	},
	func(base, key string, n int) *http.Request { return req("GET", base+"/api/sql?q="+escaped(key), "") },
	func(base, key string, n int) *http.Request { return req("GET", base+"/api/sql?apikey="+key+"%zz", "") },
	func(base, key string, n int) *http.Request { return req("GET", base+"/api/"+key, "") },
	func(base, key string, n int) *http.Request { return req("GET", base+"/"+escaped(key)+"/x", "") },
	func(base, key string, n int) *http.Request { return req("DELETE", base+"/api/keys/"+key, "") },
	func(base, key string, n int) *http.Request {
		return with(csvBody(base+"/api/provisioning/"+key, "name\n"), "X-Api-Key", key)
	},
	func(base, key string, n int) *http.Request { return csvBody(base+"/api/send?apikey="+key, "type\n") },
	func(base, key string, n int) *http.Request {
		return with(csvBody(base+"/api/send?"+key+"=true", "type\n"), "X-Api-Key", key)
	},
	func(base, key string, n int) *http.Request {
		return with(with(csvBody(base+"/api/send", data(n)), "X-Api-Key", key), "Idempotency-Key", key)
	},
	func(base, key string, n int) *http.Request { // another body under the same Idempotency-Key
		return with(with(csvBody(base+"/api/send", data(n+1)), "X-Api-Key", key), "Idempotency-Key", key)
	},
	func(base, key string, n int) *http.Request { // an answer that is kept and complains of a key
		return with(with(csvBody(base+"/api/send", header+"data,"+key+","+key+",,,1\n"+data(n)[len(header):]), "X-Api-Key", key), "Idempotency-Key", fmt.Sprint("own ", n))
	},
	func(base, key string, n int) *http.Request {
		return with(csvBody(base+"/api/send", data(n)), "X-Api-Key", key)
	},
	func(base, key string, n int) *http.Request {
		return with(csvBody(base+"/api/send", "type,"+key+"\n"), "X-Api-Key", key)
	},
	func(base, key string, n int) *http.Request {
		return with(csvBody(base+"/api/send", "type,object,i1\n"+key+",x,1\ndata,"+key+",1\ndata,"+key+`"`+"\n"), "X-Api-Key", key)
	},
	func(base, key string, n int) *http.Request {
		return with(with(csvBody(base+"/api/send", data(n)), "Referer", "http://x/?apikey="+key), "User-Agent", key)
	},
	func(base, key string, n int) *http.Request {
		return with(with(csvBody(base+"/api/send", data(n)), "X-Api-Key", key), "Content-Type", "text/"+key)
	},
	func(base, key string, n int) *http.Request {
		return with(with(csvBody(base+"/api/send", data(n)), "X-Api-Key", key), "Content-Encoding", key)
	},
	func(base, key string, n int) *http.Request {
		return with(with(csvBody(base+"/api/send", data(n)), "X-Api-Key", key), "X-Request-Id", key)
	},
	func(base, key string, n int) *http.Request {
		return with(with(req("POST", base+"/api/sql", `{"q":"`+key+`","`+key+`":1}`), "X-Api-Key", key), "Content-Type", "application/json")
	},
	func(base, key string, n int) *http.Request {
		return with(with(req("POST", base+"/api/sql", "apikey="+key+"&q="+key), "X-Api-Key", key), "Content-Type", "application/x-www-form-urlencoded")
	},
	func(base, key string, n int) *http.Request {
		return with(req("GET", base+"/api/session", ""), "Cookie", "belfry_session="+key)
	},
	func(base, key string, n int) *http.Request {
		return req("POST", base+"/api/session", `{"user":"`+key+`","password":"`+key+`"}`)
	},
	func(base, key string, n int) *http.Request {
		return req("POST", base+"/api/session", `{"`+key+`":"x","user":"a","password":"`+key+`"}`)
	},
	func(base, key string, n int) *http.Request { return req("X"+key, base+"/api/session", "") },
	func(base, key string, n int) *http.Request {
		return with(req("GET", base+"/api/session", ""), "X-Api-Key", " "+strings.ToUpper(key)+" ")
	},
	func(base, key string, n int) *http.Request {
		return with(req("GET", base+"/api/session", ""), "Authorization", "Bearer "+key)
	},
	func(base, key string, n int) *http.Request {
		return req("GET", base+"/d?apikey="+key+"&resname=res&o=cpu&i1=1&n="+key, "")
	},
	func(base, key string, n int) *http.Request {
		return req("GET", base+"/d?apikey="+key+"&resname="+key+"&o="+key+"&i1=1", "")
	},
	func(base, key string, n int) *http.Request {
		return req("GET", base+"/l?apikey="+key+"&resname=res&o="+key+"&l=x", "")
	},
	func(base, key string, n int) *http.Request {
		return req("GET", base+"/cv?apikey="+key+"&resname=res&c=folder&v=x&p="+key+"&posx="+key, "")
	},
	func(base, key string, n int) *http.Request {
		return with(with(req("POST", base+"/api/send", `[{"type":"data","object":"`+key+`","i1":1},{"`+key+`":1}]`), "X-Api-Key", key), "Content-Type", "application/json")
	},
}

const header = "type,resname,object,class,view,i1\n"

func data(n int) string { return header + fmt.Sprintf("data,res,cpu,host,res,%d\n", n) }

// escaped writes every character of a key as %xx.
func escaped(key string) string {
	var b strings.Builder
	for i := range len(key) {
		fmt.Fprintf(&b, "%%%02X", key[i])
	}
	return b.String()
}

func req(method, address, body string) *http.Request {
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		panic(err) // the list above is wrong
	}
	return r
}

func csvBody(address, body string) *http.Request {
	return with(req("POST", address, body), "Content-Type", "text/csv")
}

func with(r *http.Request, name, value string) *http.Request {
	r.Header.Set(name, value)
	return r
}

// TestKeysStayHidden sends keys everywhere and looks for them everywhere.
func TestKeysStayHidden(t *testing.T) {
	t.Parallel()
	const requests = 10_000
	p := newProcess(t, nil)
	keys := []string{
		p.key("read", "read"), p.key("write", "readwrite"), p.key("all", "readwritedelete"),
		p.key("expired", "readwrite", "--expires", "1ms"),
	}
	if res := p.ask("POST", "/api/provisioning/custom", "name\nres\n", "X-Api-Key: "+keys[1]); res.StatusCode != 200 {
		t.Fatalf("%d %s", res.StatusCode, res.body)
	}
	found := func(text string) bool {
		text = strings.ToLower(text)
		for _, k := range keys {
			for _, form := range []string{k, strings.ReplaceAll(k, "-", ""), strings.ToLower(escaped(k))} {
				if strings.Contains(text, form) {
					return true
				}
			}
		}
		return false
	}
	statuses := p.misuse(requests, keys, found)
	for _, s := range []int{200, 207, 400, 401, 403, 404, 405, 409, 415} {
		if statuses[s] == 0 {
			t.Errorf("no request was answered with %d; the test does not reach what it means to: %v", s, statuses)
		}
	}
	if statuses[500] > 0 {
		t.Errorf("%d requests broke the service", statuses[500])
	}
	events := p.ask("GET", "/api/sql?rows=100000&q=SELECT+*+FROM+events", "", "X-Api-Key: "+keys[0])
	metrics := p.ask("GET", "/metrics", "")
	p.stop()
	for name, text := range map[string]string{"events": events.body, "metrics": metrics.body, "log": p.logged()} {
		if len(text) < 1000 {
			t.Errorf("the %s are short: %s", name, text)
		}
		if found(text) {
			t.Errorf("the %s hold a key", name)
		}
	}
	if n := strings.Count(p.logged(), "msg=request "); n < requests {
		t.Errorf("the log has %d requests", n)
	}
	if !found("x" + keys[0] + "x") {
		t.Error("the search finds nothing")
	}
	files := 0
	err := filepath.WalkDir(p.data, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if files++; found(string(bytes.TrimRight(content, "\x00"))) {
			t.Errorf("%s holds a key", path)
		}
		return err
	})
	if err != nil || files < 4 {
		t.Errorf("%d files, %v", files, err)
	}
	t.Logf("%d requests: %v; %d files searched", requests, statuses, files)
}

// misuse sends n requests of all kinds from several clients and counts the answers by status.
func (p *process) misuse(n int, keys []string, found func(string) bool) map[int]int {
	var mu sync.Mutex
	statuses := map[int]int{}
	numbers := make(chan int)
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(w)))
			for i := range numbers {
				r := misplaced[i%len(misplaced)](p.base, keys[rnd.IntN(len(keys))], i)
				res, err := p.client.Do(r)
				if err != nil {
					p.t.Error(err)
					continue
				}
				text, err := io.ReadAll(res.Body)
				res.Body.Close()
				var head strings.Builder
				res.Header.Write(&head)
				if err != nil || found(head.String()+string(text)) {
					p.t.Errorf("request kind %d: the answer holds a key, or broke off (%v): %s%s", i%len(misplaced), err, head.String(), text)
				}
				mu.Lock()
				statuses[res.StatusCode]++
				mu.Unlock()
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	all.Wait()
	return statuses
}
