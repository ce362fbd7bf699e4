package accounts

import (
	"errors"
	"slices"
	"strings"

	"belfry"
	"belfry/engine"
	"belfry/meta"
)

// maxViews is how many sub-trees a user or a key may have.
const maxViews = 100

// checkUserViews reports whether a user may be limited to its views.
func checkUserViews(tree *meta.Tree, c belfry.CustomerID, u *belfry.User) error {
	if len(u.Views) > 0 && u.Instance {
		return belfry.Errorf(belfry.BadParameter, "user %q administers the instance and cannot be limited to views", u.Name)
	}
	return checkViews(tree, c, "user", u.Views)
}

// checkViews reports whether a user or a key may be limited to views: each is a view of the customer or a resource that exists.
func checkViews(tree *meta.Tree, c belfry.CustomerID, who string, views []string) error {
	if len(views) > maxViews {
		return belfry.Errorf(belfry.BadParameter, "a %s may be limited to %d views, got %d; put some of them into one view", who, maxViews, len(views))
	}
	for i, name := range views {
		switch {
		case name == belfry.Main:
			return belfry.Errorf(belfry.BadParameter, "%s holds everything; give no views to limit nothing", belfry.Main)
		case slices.Contains(views[:i], name):
			return belfry.Errorf(belfry.BadParameter, "view %q is given twice", belfry.Clip(name))
		}
		if bad := engine.CheckName("views", name); bad != nil {
			return belfry.Errorf(belfry.BadParameter, "%s", bad.Message)
		}
		n, err := tree.Container(belfry.Whole(c), "", name)
		if e, ok := errors.AsType[*belfry.Error](err); ok {
			if strings.Contains(e.Message, belfry.Main) { // MAIN cannot be given
				return belfry.Errorf(belfry.BadParameter, "views: there is no view or resource %q; create it first", belfry.Clip(name))
			}
			return belfry.Errorf(belfry.BadParameter, "views: %s", e.Message)
		}
		if n.Place() != n {
			return belfry.Errorf(belfry.BadParameter, "view %q is a part of the resource %q; name the resource, or a view of the customer", name, n.Resource.Name)
		}
	}
	return nil
}

// limitText describes the views of a user for an event.
func limitText(views []string) string {
	if len(views) == 0 {
		return "may see all views"
	}
	return "limited to " + strings.Join(views, ", ")
}
