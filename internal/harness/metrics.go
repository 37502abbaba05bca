package harness

import (
	"bufio"
	"bytes"
	"context"
	"strconv"
	"strings"
)

// Sum reads the collector's own metrics and adds up the series of one name whose
// labels contain all of the given ones, each as name="value".
func (c *Collector) Sum(ctx context.Context, name string, labels ...string) (float64, error) {
	_, body, err := Get(ctx, c.Metrics)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	scanner := bufio.NewScanner(bytes.NewReader(body))
	for scanner.Scan() {
		series, value, ok := strings.Cut(scanner.Text(), "} ")
		if !ok || !strings.HasPrefix(series, name+"{") && !strings.HasPrefix(series, name+"_total{") {
			continue
		}
		if !containsAll(series, labels) {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, scanner.Err()
}

func containsAll(s string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}
