package explain

import (
	"testing"

	"belfry"
	"belfry/meta"
	"belfry/status"
)

func TestSummary(t *testing.T) {
	f := func(want string, e Explanation) {
		t.Helper()
		if got := e.summary(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	cpu := ExplainedItem{Kind: "object", Name: "cpu", Resource: "web01", View: "web01", StatusName: "OK", Since: "T"}
	main := ExplainedItem{Kind: "view", Name: "MAIN", StatusName: "Critical", Since: "T"}
	two := []ExplainedValue{{Thresholds: make([]ExplainedRule, 2)}}
	f("cpu of web01 is OK since T: no threshold is in force", Explanation{Item: cpu, Indicators: two, own: belfry.OK})
	f("cpu of web01 is OK since T: there is data, but there are no thresholds", Explanation{Item: cpu, own: belfry.OK})
	f("cpu of web01 is OK since T: no data yet", Explanation{Item: cpu, own: belfry.Unknown})
	f("cpu of web01 is OK since T: i1 is 97; acknowledged by ann at U: looking", Explanation{
		Item: cpu, Own: ExplainedOwn{Info: "i1 is 97"}, Acknowledgment: &ExplainedAck{By: "ann", Time: "U", Text: "looking"},
	})
	f("cpu of web01 is OK since T: unmanaged with the view MAIN, until U (repair); without that it would be Critical, i1 is 97", Explanation{
		Item: cpu, Hidden: "management", Own: ExplainedOwn{StatusName: "Critical", Info: "i1 is 97"},
		Management: ExplainedMode{Mode: "unmanaged", InheritedFrom: &ExplainedPlace{"view", "MAIN"}, Note: "repair", Window: &ExplainedWindow{Open: true, To: "U"}},
	})
	f("cpu of web01 is OK since T: it is outside its monitoring period; inside it would be Major, i1 is 97", Explanation{
		Item: cpu, Hidden: "monitoring period", Own: ExplainedOwn{StatusName: "Major", Info: "i1 is 97"},
	})
	f("MAIN is Critical because cpu in web01 is OK since T; 3 more on the way are as bad", Explanation{
		Item: main, Rollup: &ExplainedRollup{}, Chain: []ExplainedStep{{ExplainedItem: cpu, AsBad: make([]ExplainedItem, 1), AsBadMore: 2}},
	})
	f("MAIN is Critical since T: of the 4 items in it that count, 1 are worse, and it takes 2", Explanation{
		Item: main, own: belfry.OK, Rollup: &ExplainedRollup{Rule: "2", Items: 4, Count: 4, Counts: map[string]int32{"OK": 3, "Warning": 1}},
	})
}

// TestMode: the windows of an item are listed by name, and one opened at once is none.
func TestMode(t *testing.T) {
	item := func(orders ...status.Order) *meta.Node {
		var operator belfry.OperatorState
		for i, o := range orders {
			operator = status.Arrange(operator, o, belfry.Time(i+1))
		}
		n := &meta.Node{}
		n.State.Operator, n.State.Mode = &operator, operator.Mode
		return n
	}
	m := explainMode(item(status.Order{Name: "b", Mode: belfry.UnmanagedKeep, From: 10, To: 20, By: "ann", Zone: "UTC"},
		status.Order{Name: "a", Mode: belfry.CollectorStopped, From: 1, To: 50, Schedule: `{"from":"x","rrule":"FREQ=DAILY","timezone":"Europe/Vienna"}`, By: "bob"}))
	if len(m.Windows) != 2 || m.Window == nil || m.Window.Name != "a" || m.Windows[0] != (ExplainedWindow{
		Name: "a", Mode: "unmanaged, collector stopped", Open: true, From: "1970-01-01T00:00:00.000001Z", To: "1970-01-01T00:00:00.000050Z",
		Schedule: m.Window.Schedule, Rule: "FREQ=DAILY", Zone: "Europe/Vienna", By: "bob",
	}) || m.Windows[1].Name != "b" || m.Windows[1].Zone != "UTC" {
		t.Errorf("explained with %+v", m)
	}
	if m := explainMode(item(status.Order{Mode: belfry.UnmanagedKeep})); m.Windows != nil {
		t.Errorf("explained with %+v", m)
	}
}
