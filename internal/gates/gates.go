// Package gates turns on feature gates of the collector in the tests that import it:
// those which TAPEDECK_FEATURE_GATES lists, with commas between them. `make test-gates`
// runs such tests with the gates that change how pdata is held.
package gates

import (
	"os"
	"strings"

	"go.opentelemetry.io/collector/featuregate"
	// The gates of pdata are known once it is there.
	_ "go.opentelemetry.io/collector/pdata/ptrace"
)

func init() {
	list := os.Getenv("TAPEDECK_FEATURE_GATES")
	if list == "" {
		return
	}
	for id := range strings.SplitSeq(list, ",") {
		if err := featuregate.GlobalRegistry().Set(id, true); err != nil {
			panic(err) // a gate that is not there would make the tests mean nothing
		}
	}
}
