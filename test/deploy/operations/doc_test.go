// Package operations holds the alerts, the dashboard and the runbook against what real
// collectors show, some of them in trouble.
//
// TAPEDECK_BIN names the directory of the binaries; `make check-operations` sets it.
package operations

const (
	root   = "../../../"
	deploy = root + "deploy/operations/"
)
