package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// A collector of tapes holds little and is passed much. At the usual pace of the
// garbage collector it would go over its few megabytes hundreds of times a second,
// and let the heap double when a large run is at hand. It gets the same room in
// either case, and half as much again as it holds once that is more. Whoever sets
// GOGC has the pace that it says.
const room = 56 << 20

func init() {
	if _, set := os.LookupEnv("GOGC"); !set {
		pace(new(cycle))
	}
}

// cycle is garbage at once: its finalizer runs after each collection.
type cycle struct{ _ [16]byte }

func pace(c *cycle) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(percent(live[0].Value.Uint64()))
	runtime.SetFinalizer(c, pace)
}

// percent is the growth after which the heap is gone over again, in percent of what
// was left of it.
func percent(live uint64) int {
	return int(max(50, min(1000, room*100/max(live, 1)))) //nolint:gosec // at most 1000
}
