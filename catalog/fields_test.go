package catalog

import (
	"strings"
	"testing"
)

// TestPromisedFields checks that the collections have the fields promised to clients, with suitable types. A field may be
// added to a collection at any time; none of these may be removed or change its type.
func TestPromisedFields(t *testing.T) {
	cat, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	f := func(collection string, historical bool, list string) {
		t.Helper()
		c := cat.Collection(collection)
		if c == nil || c.Historical != historical {
			t.Errorf("%s is missing, or of the wrong kind", collection)
			return
		}
		seen[c.Name] = true
		for _, part := range strings.Split("id id, time timestamp, "+list, ", ") {
			words := strings.Fields(part)
			for _, name := range words[1:] {
				if ref, ok := c.Field(name); !ok || string(ref.Type) != words[0] {
					t.Errorf("%s.%s is %q, want %q", collection, name, ref.Type, words[0])
				}
			}
		}
	}
	const past, present = true, false
	f("objectstatus", present, "text name kind resource view parentview object class package statusname ackby ip host object_1 object_5 string1 string100, "+
		"status status, fulltext info ack unmanagenote note, time since lastdata acktime unmanagefrom unmanageto, value i1 i100 integer1 INTEGER100, "+
		"bool acknowledged isunmanaged unmanageifred collectunmanage collectorunmanage")
	f("audit", past, "text user via address request action kind name resource view before after items, fulltext info")
	f("events", past, "text source type resource view object class user, status status previous, fulltext info")
	f("objectdata", past, "text resource view object class period ip host string1, value i1 i2 i100 integer4, number i1_min i1_max i100_max, integer i1_count i100_count")
	f("objectlog", past, "text resource view object class c1 c2 c100 ip host, fulltext log")
	f("syslog", past, "text resource ip host app procid msgid category, integer facility severity, fulltext message data, time devicetime")
	f("trap", past, "text resource ip host version oid name category p1 p2 p100, integer generic specific severity, fulltext info varbinds, time devicetime")
	f("traps", past, "text oid")
	f("nettrace", past, "text resource clientip serverip proto application exporter, "+
		"integer clientport serverport bytesin bytesout packetsin packetsout retransmitsin retransmitsout resetsin resetsout tcpflags interfacein interfaceout, "+
		"number duration connecttime clientrtt serverrtt responsetime")
	f("apptrace", past, "text resource service kind period, fulltext operation, integer requests errors, number duration duration_p50 duration_p95 duration_p99 duration_max")
	f("apptracespan", past, "text resource traceid spanid parentid service kind status host, fulltext name statusmessage attributes events, number duration")
	f("apptraceid", past, "text traceid service, fulltext name, integer spans services errors, number duration")
	f("voip", past, "text resource callid caller callee status codec quality ip host, number duration mos jitter latency loss")
	f("objectsl", past, "text kind resource view object class period, number availability performance downtime unmanagedtime mttr target, integer incidents, bool met")
	f("objectml", past, "text resource view object class kind, integer indicator, number value expected low high score horizon, fulltext info")
	f("objectrca", present, "text problem kind resource view object, integer rank affected, status status, time since, number score, fulltext info")
	f("inventory", present, "text host ip os version arch agent, integer cpus memory, time lastseen, fulltext attributes")
	f("replay", past, "text session user browser resource, fulltext page events, number duration, integer errors")
	f("keyvalue", past, "text collection record key, fulltext value")
	if len(seen) != 18 || len(cat.Collections()) != 18 {
		t.Errorf("%d collections are promised, %d looked at, %d there", 18, len(seen), len(cat.Collections()))
	}
	for collection, text := range map[string]string{"objectlog": "log", "syslog": "message", "trap": "info", "events": "info"} {
		if c := cat.Collection(collection); c.Text != text {
			t.Errorf("a word without a field searches %s.%s, want %s", collection, c.Text, text)
		}
	}
}
