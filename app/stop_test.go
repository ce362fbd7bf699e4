package app

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"belfry"
	"belfry/config"
)

// TestStopAnswersBodies: who has sent a part of a body and is silent when the service stops gets an answer, and the connection is not cut off.
func TestStopAnswersBodies(t *testing.T) {
	r := startService(t, func(c *config.Config) { c.Limits.Stop = config.Duration(2 * time.Second) })
	key := r.key("agent", belfry.LevelReadWrite, "default")
	if _, res, text := r.do("POST", "/api/provisioning/custom", "name\nweb01\n", "X-Api-Key: "+key); res.StatusCode != 200 {
		t.Fatalf("%s %s", res.Status, text)
	}
	out, in := io.Pipe()
	reading, stopped := make(chan struct{}), make(chan struct{}) // closed when the service begins to read, and when it has ended
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(reading) }})
	req, err := http.NewRequestWithContext(ctx, "POST", r.base+"/api/send", out)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"X-Api-Key": {key}, "Content-Type": {"text/csv"}, "Expect": {"100-continue"}}
	go func() {
		<-reading
		io.WriteString(in, "type,resname,object,class,view,i1\n"+strings.Repeat("data,web01,cpu,generic,web01,1\n", 20_000)) // more than are decided at a time
		r.stop()
		r.await("msg=stopped")
		in.Close() // a client whose connection was cut off would wait for it
		close(stopped)
	}()
	client := http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 503 || !res.Close || !strings.Contains(string(text), "rows of this body have been processed: ") ||
		!strings.Contains(string(text), "the server is stopping") {
		t.Errorf("%s %s %v", res.Status, text, err)
	}
	<-stopped
	if r.log.last("cut off") != "" {
		t.Error("requests were cut off")
	}
}
