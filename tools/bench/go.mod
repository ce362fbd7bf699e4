module belfry/tools/bench

go 1.26.0

require (
	belfry v0.0.0
	github.com/gosnmp/gosnmp v1.47.0
	golang.org/x/net v0.62.0
)

require (
	github.com/goccy/go-yaml v1.19.2 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace belfry => ../..
