//go:build peers

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// inFolder runs a command in a folder and gives what it says.
func inFolder(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "npm_config_fund=false", "npm_config_audit=false")
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, said)
	}
	return string(said)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// documentIn copies openapi.json into a new folder.
func documentIn(t *testing.T) (dir string) {
	t.Helper()
	text, err := os.ReadFile("../../api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	write(t, filepath.Join(dir, "openapi.json"), string(text))
	return dir
}

// TestPeerOpenAPISpectral: the usual linter finds no error in the document.
func TestPeerOpenAPISpectral(t *testing.T) {
	t.Parallel()
	dir := documentIn(t)
	write(t, filepath.Join(dir, ".spectral.yaml"), "extends: [\"spectral:oas\"]\n")
	inFolder(t, dir, "npx", "--yes", "@stoplight/spectral-cli@6.16.3", "lint", "--fail-severity", "error", "openapi.json")
}

// TestPeerOpenAPIAjv: every schema compiles as JSON Schema 2020-12, without keywords that do not belong there.
func TestPeerOpenAPIAjv(t *testing.T) {
	t.Parallel()
	dir := documentIn(t)
	inFolder(t, dir, "npm", "install", "--no-save", "ajv@8.20.0", "ajv-formats@3.0.1")
	write(t, filepath.Join(dir, "check.mjs"), `
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
const doc = JSON.parse(readFileSync("openapi.json", "utf8"));
const text = JSON.stringify(doc.components.schemas).replaceAll("#/components/schemas/", "doc#/$defs/");
const ajv = new Ajv2020({ strict: true, strictTypes: false, allowUnionTypes: true, strictRequired: false });
formats.default(ajv);
ajv.addSchema({ $id: "doc", $defs: JSON.parse(text) });
for (const name of Object.keys(doc.components.schemas)) ajv.compile({ $ref: "doc#/$defs/" + name });
if (ajv.validate({ $ref: "doc#/$defs/Version" }, { name: 1 })) throw new Error("a wrong version is taken");
`)
	inFolder(t, dir, "node", "check.mjs")
}

// TestPeerOpenAPITypeScript: openapi-typescript writes types that compile.
func TestPeerOpenAPITypeScript(t *testing.T) {
	t.Parallel()
	dir := documentIn(t)
	inFolder(t, dir, "npm", "install", "--no-save", "openapi-typescript@7.13.0", "typescript@5")
	inFolder(t, dir, "npx", "openapi-typescript", "openapi.json", "-o", "api.ts")
	write(t, filepath.Join(dir, "use.ts"), `import type { components } from "./api";
export const v: components["schemas"]["Version"] = { name: "belfry", version: "1", go: "go1" };
// @ts-expect-error a field is missing
export const w: components["schemas"]["Version"] = { name: "belfry" };
`)
	inFolder(t, dir, "npx", "tsc", "--noEmit", "--strict", "use.ts")
}

// TestPeerOpenAPIGo: oapi-codegen writes a client that compiles.
func TestPeerOpenAPIGo(t *testing.T) {
	t.Parallel()
	dir := documentIn(t)
	inFolder(t, dir, "go", "mod", "init", "example.com/client")
	inFolder(t, dir, "go", "get", "-tool", "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2")
	inFolder(t, dir, "go", "tool", "oapi-codegen", "-generate", "types,client", "-package", "client", "-o", "client.go", "openapi.json")
	inFolder(t, dir, "go", "mod", "tidy")
	inFolder(t, dir, "go", "build", "./...")
}
