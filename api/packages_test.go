package api

import "testing"

// TestPackageNames: names of packages have small letters, so those in a path may have others.
func TestPackageNames(t *testing.T) {
	h := newHouse(t)
	admin := h.enter("administrator")
	for _, name := range []string{"view", "View", "VIEW", "%20view%20", "view/"} {
		h.want(200, "", "GET", "/api/packages/"+name, "", admin)
	}
	h.want(404, "unknown_package", "GET", "/api/provisioning/views", "", admin)
}
