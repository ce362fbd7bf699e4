package main

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdLogin logs a user in with the password in BELFRY_USER_PASSWORD and puts the secret of the session into the
// environment, where http -s finds it: login VAR USER.
func cmdLogin(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: login VAR USER")
	}
	body, err := json.Marshal(map[string]string{"user": args[1], "password": ts.Getenv("BELFRY_USER_PASSWORD")})
	ts.Check(err)
	res, err := of(ts).client.Post(of(ts).base+"/api/session", "application/json", strings.NewReader(string(body)))
	ts.Check(err)
	defer res.Body.Close()
	for _, c := range res.Cookies() {
		if c.Name == "belfry_session" && res.StatusCode == http.StatusOK {
			ts.Setenv(args[0], c.Value)
			of(ts).keys = append(of(ts).keys, c.Value) // nokeys looks for it, too
			return
		}
	}
	ts.Fatalf("the login was answered with status %d and no cookie", res.StatusCode)
}
