package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// gcLine is what the Go runtime writes about each collection with gctrace=1:
//
//	gc 12 @3.4s 5%: 0.01+2.3+0.02 ms clock, 0.02+0.5/2.1/0.3+0.04 ms cpu, 40->42->21 MB, …
//
// The processor times are those of the phases: the stop before, assists, background
// workers and idle workers, and the stop after.
var gcLine = regexp.MustCompile(`^gc \d+ @.* ms clock, ([0-9.]+)\+([0-9.]+)/([0-9.]+)/([0-9.]+)\+([0-9.]+) ms cpu,`)

// gcTime adds up the processor time of all collections in a log. Sweeping, which
// happens as memory is asked for, is not in it.
func gcTime(log io.Reader) (time.Duration, error) {
	sum := 0.0
	for lines := bufio.NewReader(log); ; {
		line, err := lines.ReadString('\n')
		if fields := gcLine.FindStringSubmatch(strings.TrimSpace(line)); fields != nil {
			for _, field := range fields[1:] {
				ms, err := strconv.ParseFloat(field, 64)
				if err != nil {
					return 0, fmt.Errorf("%q: %w", line, err)
				}
				sum += ms
			}
		}
		if err == io.EOF {
			return time.Duration(sum * float64(time.Millisecond)), nil
		}
		if err != nil {
			return 0, err
		}
	}
}

func (p *process) gcTime() (time.Duration, error) {
	log, err := os.Open(p.log)
	if err != nil {
		return 0, err
	}
	defer func() { _ = log.Close() }()
	return gcTime(log)
}
