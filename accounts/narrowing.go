package accounts

import (
	"slices"

	"belfry"
	"belfry/meta"
)

// maxAddresses is how many networks a key may be restricted to.
const maxAddresses = 100

// checkNarrowing checks the restrictions of a key and normalizes its networks.
func checkNarrowing(tree *meta.Tree, c belfry.CustomerID, n belfry.Narrowing) (belfry.Narrowing, error) {
	for i, what := range n.Only {
		switch {
		case what != belfry.OnlySend:
			return n, belfry.Errorf(belfry.BadParameter, "only: %.64q is not known; the one value is %q, for the paths that send rows", what, belfry.OnlySend)
		case i > 0:
			return n, belfry.Errorf(belfry.BadParameter, "only: %q is given twice", what)
		}
	}
	if err := checkViews(tree, c, "key", n.Views); err != nil {
		return n, err
	}
	if len(n.Addresses) > maxAddresses {
		return n, belfry.Errorf(belfry.BadParameter, "a key may be restricted to %d addresses, got %d; combine some of them into networks", maxAddresses, len(n.Addresses))
	}
	given := n.Addresses
	n.Addresses = nil
	for _, text := range given {
		p, err := belfry.ParseNetwork(text)
		if err != nil {
			return n, belfry.Errorf(belfry.BadParameter, "addresses: %s", err.(*belfry.Error).Message)
		}
		if text = belfry.NetworkText(p); slices.Contains(n.Addresses, text) {
			return n, belfry.Errorf(belfry.BadParameter, "addresses: %s is given twice", text)
		}
		n.Addresses = append(n.Addresses, text)
	}
	return n, nil
}
