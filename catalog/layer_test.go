package catalog

import (
	"encoding/json"
	"strings"
	"testing"
)

func mustClass(t testing.TB, text string) *Class {
	t.Helper()
	c, err := ParseClass([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustPackage(t testing.TB, text string) *PackageType {
	t.Helper()
	pt, err := ParsePackage([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return pt
}

const shopPackage = `
name: shop
kind: resource
help: A web shop.
questions:
  - {name: url, required: true, help: Address of the shop.}
parts:
  - {name: Orders, class: orders}
`

// TestWith: kinds of the instance are added to the built-in ones, which do not change.
func TestWith(t *testing.T) {
	base := loadCatalog(t)
	orders := mustClass(t, "name: orders\nindicators: [{n: 1}]\n")
	ping := mustClass(t, "name: network-ping\nindicators: [{n: 1}]\n")
	shop := mustPackage(t, shopPackage)
	c, err := base.With([]*Class{orders, ping}, []*PackageType{shop})
	if err != nil {
		t.Fatal(err)
	}
	f := func(c *Catalog, class, pkg Source) {
		t.Helper()
		if got := c.ClassSource("orders"); got != class {
			t.Errorf("class orders comes from %q, want %q", got, class)
		}
		if got := c.PackageSource("shop"); got != pkg {
			t.Errorf("package shop comes from %q, want %q", got, pkg)
		}
	}
	f(base, "", "")
	f(c, FromFile, FromFile)
	if c.Class("orders") != orders || c.Package("shop") != shop || c.Class("network-ping") != ping || base.Class("network-ping") == ping {
		t.Error("look-ups give something else")
	}
	if c.ClassSource("network-ping") != FromFile || c.ClassSource("log-receiver") != Builtin || c.PackageSource("custom") != Builtin {
		t.Error("sources are wrong")
	}
	if c.Collection("objectdata") != base.Collection("objectdata") {
		t.Error("collections changed")
	}
	if len(c.Classes()) != len(base.Classes())+1 || len(c.Packages()) != len(base.Packages())+1 {
		t.Errorf("%d classes, %d packages", len(c.Classes()), len(c.Packages()))
	}
	again, err := c.With([]*Class{orders}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f(again, FromFile, "") // With starts from the built-in kinds
	if again.ClassSource("network-ping") != Builtin {
		t.Error("an override outlived its With")
	}
}

func TestWithFaults(t *testing.T) {
	base := loadCatalog(t)
	class := func(want, text string) {
		t.Helper()
		_, err := base.With([]*Class{mustClass(t, text)}, nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		_, err = base.ReadClass([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), "line ") {
			t.Errorf("ReadClass: %v", err)
		}
	}
	class("", "name: x\n")
	class("", "name: network-ping\nindicators: [{n: 1}, {n: 9, type: string}]\n")
	class("indicator i1 is a number and cannot become a string", "\nname: network-ping\nindicators: [{n: 1, type: string}]\n")
	if _, err := base.ReadClass([]byte("name: x\ninferred: true\n")); err == nil || !strings.Contains(err.Error(), "line 2: inferred") {
		t.Error(err)
	}
	pkg := func(want, text string) {
		t.Helper()
		_, err := base.With(nil, []*PackageType{mustPackage(t, text)})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		_, err = base.ReadPackage([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), "line ") {
			t.Errorf("ReadPackage: %v", err)
		}
	}
	pkg("", "name: x\nkind: resource\nhelp: h\nparts: [{name: A, class: network-ping}]\n")
	pkg("is a built-in package", "name: custom\nkind: resource\nhelp: h\n")
	pkg("write resource", "name: x\nkind: element\nhelp: h\n")
	pkg(`parts[0].class is "network-pin", and there is no such class (nearest is "network-ping")`, "name: x\nkind: resource\nhelp: h\nparts: [{name: A, class: network-pin}]\n")
	pkg(`collector is "pong", which does not exist; known are log-syslog-receiver`, "name: x\nkind: resource\nhelp: h\ncollector: pong\n")
	pkg("needs the answer ip_address_fqdn", "name: x\nkind: resource\nhelp: h\ncollector: network-ping\n")
	pkg("with the type host", "name: x\nkind: resource\nhelp: h\ncollector: network-ping\nquestions: [{name: ip_address_fqdn, required: true, help: h}]\n")
	pkg("", "name: x\nkind: resource\nhelp: h\ncollector: network-ping\nquestions: [{name: ip_address_fqdn, type: host, required: true, help: h}]\n")
}

// TestLayer: an invalid kind does not affect the others.
func TestLayer(t *testing.T) {
	bad := mustClass(t, "name: network-ping\nindicators: [{n: 1, type: string}]\n")
	c, faults := loadCatalog(t).Layer([]*Class{bad, mustClass(t, "name: x\n")}, []*PackageType{mustPackage(t, shopPackage)})
	if len(faults) != 2 || c.Class("x") == nil || c.Package("shop") != nil || c.ClassSource("network-ping") != Builtin {
		t.Errorf("%v", faults)
	}
}

// TestFormerIndicators: an indicator that was removed for a while keeps its type.
func TestFormerIndicators(t *testing.T) {
	one := mustClass(t, "name: c\nindicators: [{n: 1}, {n: 2, type: string}]\n")
	two := mustClass(t, "name: c\nindicators: [{n: 1}]\n").After(one)
	if err := mustClass(t, "name: c\nindicators: [{n: 2}]\n").Follows(two); err == nil {
		t.Error("i2 became a number")
	}
	back := mustClass(t, "name: c\nindicators: [{n: 2, type: string}]\n")
	if err := back.Follows(two); err != nil {
		t.Error(err)
	}
	text, err := json.Marshal(back.After(two))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"former":[{"n":1,"type":"number"}]`) {
		t.Errorf("%s", text)
	}
	if three := mustClass(t, string(text)); three.Follows(two) != nil || len(three.Former) != 1 {
		t.Errorf("%+v", three)
	}
	for _, wrong := range []string{"former: [{n: 1}]", "former: [{n: 3}, {n: 3}]", "former: [{n: 0}]", "former: [{n: 3, type: float}]"} {
		if _, err := ParseClass([]byte("name: c\nindicators: [{n: 1}]\n" + wrong + "\n")); err == nil || !strings.Contains(err.Error(), "line 3: former") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func TestListed(t *testing.T) {
	text, err := json.Marshal(Listed{Class: InferClass("x").WithIndicator(1, true), Source: FromRows, Objects: 3})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"name":"x","indicators":[{"n":1,"name":"i1","type":"string"}],"log":{"separator":"\t"},"inferred":true,"source":"inferred","objects":3}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if _, err := ParseClass(text); err != nil { // an answer can be sent back
		t.Error(err)
	}
}
