package api

import (
	"net/http"

	"belfry"
)

// Routes is everything the service answers. A new endpoint is its handler and its line here; the reference page, the
// order of refusal and the list of allowed methods follow from it. A GET whose answer grows with what a customer has is
// served inTurn.
var Routes = []Route{
	{"GET", "/{$}", belfry.LevelNone, nil, (*Server).root, "Redirects to the web interface."},
	{"GET", "/ui/", belfry.LevelNone, anyParams, (*Server).ui, "The web interface."},
	{"GET", "/healthz", belfry.LevelNone, nil, (*Server).health, "200 while the process lives."},
	{"GET", "/readyz", belfry.LevelNone, nil, (*Server).ready, "200 when data can be taken and queried, else 503 with the reason."},
	{"GET", "/metrics", belfry.LevelNone, anyParams, (*Server).metrics, "Counters of the service in Prometheus format; to callers on the same machine alone, or on `--admin-listen`."},
	{"GET", "/api/version", belfry.LevelNone, nil, (*Server).version, "Name and version of the program."},
	{"GET", "/api/provisioning/{package}", belfry.LevelRead, exportParams, inTurn((*Server).export), "Gives back as CSV what POST would take to make again all that a package has made; with `broken`, the links and shortcuts whose ends have been removed, as DELETE takes them."},
	{"POST", "/api/provisioning/{package}", belfry.LevelReadWrite, bulkParams, (*Server).provision, "Creates or changes what a package makes: resources, views, objects or graphical elements."},
	{"DELETE", "/api/provisioning/{package}", belfry.LevelReadWriteDelete, removeParams, (*Server).remove, "Removes what a package has made."},
	{"GET", "/api/openapi.json", belfry.LevelNone, nil, (*Server).openapi, "This interface, described in OpenAPI 3.1."},
	{"GET", "/api/packages", belfry.LevelRead, nil, inTurn((*Server).packages), "Lists what can be provisioned, with every column."},
	{"GET", "/api/packages/{type}", belfry.LevelRead, nil, (*Server).packageType, "Describes one package."},
	{"GET", "/api/classes", belfry.LevelRead, listParams, inTurn((*Server).classes), "Lists the classes of objects by name."},
	{"GET", "/api/classes/{name...}", belfry.LevelRead, nil, inTurn((*Server).class), "Describes one class."},
	{"PUT", "/api/classes/{name...}", belfry.LevelReadWriteDelete, nil, (*Server).putClass, "Defines a class, in JSON or YAML."},
	{"DELETE", "/api/classes/{name...}", belfry.LevelReadWriteDelete, nil, (*Server).deleteClass, "Removes the customer's own definition of a class."},
	{"POST", "/api/session", belfry.LevelNone, nil, (*Server).logIn, "Logs a user in and answers with a cookie."},
	{"GET", "/api/session", belfry.LevelRead, nil, (*Server).whoAmI, "Who asks: the user of the session, or the name of the key."},
	{"PUT", "/api/session", belfry.LevelRead, nil, (*Server).changePassword, "Changes the own password; the other sessions of the user end."},
	{"DELETE", "/api/session", belfry.LevelNone, everywhereParams, (*Server).logOut, "Logs out, with `everywhere` from all sessions of the user; without a session it does nothing."},
	{"POST", "/api/session/customer", belfry.LevelInstance, nil, (*Server).switchCustomer, "Lets the session act in another customer, or in its own again."},
	{"GET", "/api/session/options", belfry.LevelNone, nil, (*Server).loginOptions, "How one can log in: whether there is an OpenID Connect provider, and what it is called."},
	{"GET", "/api/session/oidc", belfry.LevelNone, nil, (*Server).oidcBegin, "Sends the browser to the OpenID Connect provider."},
	{"GET", "/api/session/oidc/callback", belfry.LevelNone, callbackParams, (*Server).oidcEnd, "Where the provider sends the browser back to: begins a session."},
	{"GET", "/api/sessions", belfry.LevelRead, nil, (*Server).listSessions, "Where one is logged in: the own sessions, the latest first."},
	{"DELETE", "/api/sessions/{id}", belfry.LevelRead, nil, (*Server).endSession, "Ends one of the own sessions."},
	{"GET", "/api/users", belfry.LevelAdministrator, listParams, inTurn((*Server).listUsers), "Lists the users by name."},
	{"POST", "/api/users", belfry.LevelAdministrator, nil, (*Server).createUser, "Creates a user; a password that is made at random is shown, this once."},
	{"PUT", "/api/users/{name...}", belfry.LevelAdministrator, nil, (*Server).changeUser, "Gives a user another role or password; its sessions end."},
	{"DELETE", "/api/users/{name...}", belfry.LevelAdministrator, nil, (*Server).removeUser, "Removes a user; its sessions end."},
	{"GET", "/api/customers", belfry.LevelInstance, listParams, inTurn((*Server).listCustomers), "Lists the customers by name."},
	{"POST", "/api/customers", belfry.LevelInstance, nil, (*Server).createCustomer, "Creates a customer with an administrator."},
	{"PUT", "/api/customers/{name...}", belfry.LevelInstance, nil, (*Server).changeCustomer, "Says on which addresses and ports a customer may listen."},
	{"DELETE", "/api/customers/{name...}", belfry.LevelInstance, confirmParams, (*Server).removeCustomer, "Removes a customer with all its data; `confirm` repeats its name."},
	{"GET", "/api/keys", belfry.LevelAdministrator, listParams, inTurn((*Server).listKeys), "Lists the API keys, without their secrets, by name."},
	{"POST", "/api/keys", belfry.LevelAdministrator, nil, (*Server).createKey, "Creates an API key and shows it, this once."},
	{"DELETE", "/api/keys/{name...}", belfry.LevelAdministrator, nil, (*Server).revokeKey, "Revokes an API key; it is refused from then on."},
	{"POST", "/api/keys/{name}/rotate", belfry.LevelAdministrator, nil, (*Server).rotateKey, "Gives an API key another secret and shows it, this once; the old one is accepted for a while."},
	{"GET", "/api/policies", belfry.LevelAdministrator, listParams, inTurn((*Server).listPolicies), "Lists the policies by name."},
	{"GET", "/api/policies/{name...}", belfry.LevelAdministrator, nil, inTurn((*Server).policy), "Describes one policy."},
	{"PUT", "/api/policies/{name...}", belfry.LevelAdministrator, nil, (*Server).putPolicy, "Sets a policy, in JSON or YAML: thresholds, intervals, roll-up or monitoring period of an item and what stands in it."},
	{"DELETE", "/api/policies/{name...}", belfry.LevelAdministrator, nil, (*Server).deletePolicy, "Removes a policy."},
	{"GET", "/api/health", belfry.LevelInstance, nil, (*Server).system, "Tells how the service fares: rows per second, what was refused and why, space, memory, slow queries."},
	{"POST", "/api/health/clock", belfry.LevelInstance, nil, (*Server).confirmClock, "Confirms that the clock is right, after it was found far off; deletion goes on."},
	{"POST", "/api/health/faults/{id}", belfry.LevelInstance, nil, (*Server).confirmFault, "Confirms a fault that stays until somebody has taken note of it: `journal_loss`, or `clock`."},
	{"GET", "/api/settings", belfry.LevelAdministrator, nil, inTurn((*Server).listSettings), "Lists the settings with their values, where each comes from and whether it can be changed here."},
	{"PUT", "/api/settings", belfry.LevelAdministrator, nil, (*Server).putSettings, "Changes settings; those of the instance need an instance administrator."},
	{"GET", "/api/pictures", belfry.LevelRead, listParams, inTurn((*Server).listPictures), "Lists the pictures by name."},
	{"GET", "/api/pictures/{name...}", belfry.LevelRead, nil, inTurn((*Server).picture), "Gives a picture."},
	{"PUT", "/api/pictures/{name...}", belfry.LevelReadWriteDelete, nil, (*Server).putPicture, "Keeps a picture: PNG, JPEG, GIF, WebP or SVG."},
	{"DELETE", "/api/pictures/{name...}", belfry.LevelReadWriteDelete, nil, (*Server).deletePicture, "Removes a picture."},
	{"POST", "/api/send", belfry.LevelReadWrite, bulkParams, (*Server).send, "Stores data and log rows, and creates the objects they name."},
	{"GET", "/api/explain/{kind}/{name...}", belfry.LevelRead, whyParams, inTurn((*Server).why), "Says why an item has its status; the kind is `objects`, `resources` or `views`."},
	{"POST", "/api/ackmanagenote/{kind}", belfry.LevelReadWrite, actParams, (*Server).act, "Manages or unmanages items, acknowledges errors, and sets notes; the kind is `resources`, `views` or `objects`."},
	{"GET", "/api/windows", belfry.LevelRead, listParams, inTurn((*Server).listWindows), "Lists the maintenance windows that are open or planned, with rule, zone and who asked for them."},
	{"POST", "/api/receivers/{resource}/try", belfry.LevelReadWrite, nil, (*Server).tryReceiver, "Shows what filter and script of a receiver make of a message; nothing is stored."},
	{"GET", "/d", belfry.LevelReadWrite, dataParams, (*Server).legacyData, "Stores indicator values of one object, or that it does not respond; `i#` stands for `i1`, `i2`, …"},
	{"GET", "/l", belfry.LevelReadWrite, logParams, (*Server).legacyLog, "Stores a log line of one object."},
	{"GET", "/cv", belfry.LevelReadWrite, viewParams, (*Server).legacyView, "Creates or changes a view inside a resource."},
	{"GET", "/api/sql", belfry.LevelRead, sqlParams, (*Server).sqlGet, "Answers a query."},
	{"POST", "/api/sql", belfry.LevelRead, sqlParams, (*Server).sqlPost, "Answers a query given as a form or as JSON, for texts too long for an address."},
	{"GET", "/api/tree", belfry.LevelRead, treeParams, inTurn((*Server).tree), "Shows one view: its status, and a page of what stands directly in it with place, status and counts; MAIN unless `view` says otherwise."},
	{"GET", "/api/stream", belfry.LevelRead, streamParams, (*Server).live, "Tells changes of status and events as they happen, as server-sent events."},
}

// Route is one endpoint.
type Route struct {
	Method string
	Path   string       // pattern of net/http, without a method
	Level  belfry.Level // what a key or a session must be allowed; LevelNone: neither is needed
	Params []string     // query parameters it knows; others are refused, so that a misspelt one is not ignored
	serve  handler
	Help   string
}

// KeyOnly tells whether a session's cookie does not count: on a GET that needs a key with which one may write. Such a GET
// changes something, and any page of any site can make a browser follow a link, cookie and all.
func (rt Route) KeyOnly() bool {
	return rt.Method == http.MethodGet && (rt.Level == belfry.LevelReadWrite || rt.Level == belfry.LevelReadWriteDelete)
}

// anyParams stands for "whatever parameters there are".
var anyParams = []string{"*"}

// methods are the routes of one path.
type methods map[string]Route

// dispatch refuses what can be refused without a look at the body, in the order all endpoints share.
func (s *Server) dispatch(w *answer, r *http.Request, m methods) {
	rt, ok := m[r.Method]
	if !ok && r.Method == http.MethodHead {
		rt, ok = m[http.MethodGet]
		ok = ok && !rt.KeyOnly() // whoever asks for the head alone does not want to change something
	}
	w.route = m.path()
	if !ok {
		w.Header().Set("Allow", m.allowed())
		s.fail(w, r, belfry.Errorf(belfry.MethodNotAllowed, "%s takes %s, not %s", mask(r.URL.Path), m.allowed(), mask(r.Method)))
		return
	}
	req, err := s.admit(r, rt)
	if err == nil {
		defer req.end()
		req.id = w.id
		s.renew(w, req)
		err = rt.serve(s, w, req)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}
