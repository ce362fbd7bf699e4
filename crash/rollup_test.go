package crash

import (
	"fmt"
	"strings"
)

// worst lists the statuses, the worst last.
const worst = "?0123-"

// rollUp finds views and resources that do not show the worst of what stands directly in them, by the rows of
// objectstatus alone. What stands in something that is not listed is a fault, too.
func rollUp(rows []found) (faults []string) {
	shown, within := map[string]string{}, map[string]int{}
	for _, f := range rows {
		if f.Kind != "object" {
			shown[boxOf(f)] = f.Status
		}
	}
	for _, f := range rows {
		in := around(f)
		if f.Name == "MAIN" && f.Kind == "view" && in == "" {
			continue
		}
		if _, ok := shown[in]; !ok {
			faults = append(faults, fmt.Sprintf("%s %q stands in %q, which does not exist", f.Kind, f.Name, in))
		}
		within[in] = max(within[in], strings.Index(worst, f.Status))
	}
	for box, status := range shown {
		if want := worst[within[box] : within[box]+1]; status != want {
			faults = append(faults, fmt.Sprintf("%q shows %s, its content says %s", box, status, want))
		}
	}
	return faults
}

// boxOf names a view or resource as nothing else is named.
func boxOf(f found) string {
	if f.Kind == "view" && f.Resource != "" {
		return f.Resource + "/" + f.Name
	}
	return f.Name
}

// around names the view or resource in which an item stands.
func around(f found) string {
	in := f.View
	if f.Kind == "view" {
		in = f.Parent
	}
	if f.Kind == "resource" || f.Resource == "" || in == f.Resource {
		return in
	}
	return f.Resource + "/" + in
}
