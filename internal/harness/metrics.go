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
		line := scanner.Text()
		cut := strings.LastIndexByte(line, ' ')
		if cut < 0 || strings.HasPrefix(line, "#") {
			continue
		}
		series, value := line[:cut], line[cut+1:]
		metric, _, _ := strings.Cut(series, "{")
		if strings.TrimSuffix(metric, "_total") != name || !containsAll(series, labels) {
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
