package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/tapedeck/tapedeck/test/bench/load"
)

const (
	// lanes is how many requests are under way at once.
	lanes = 4
	// patience is how long the number of stored spans may stand still, beyond the
	// time that processors wait, until those that are missing count as lost.
	patience = time.Minute
)

// Measured is what one collector used for one load.
type Measured struct {
	System string `json:"system"`
	// CPU is in seconds, from the first request until all is stored.
	CPU float64 `json:"cpu_seconds"`
	// GC is the part of CPU that garbage collection took.
	GC float64 `json:"gc_seconds"`
	// PeakRSS is in bytes, from the start of the process on.
	PeakRSS int64 `json:"peak_rss_bytes"`
	// Spans were accepted in Elapsed seconds, after Refused answers to try again.
	Spans   int64   `json:"spans"`
	Refused int64   `json:"refused_requests"`
	Elapsed float64 `json:"send_seconds"`
	// Settle is how many seconds after the last request all was stored.
	Settle float64 `json:"settle_seconds"`
	Stored int64   `json:"stored_bytes"`
	// Lost is how many of the accepted spans were never stored.
	Lost int64 `json:"lost_spans"`
}

// trial is how one collector is measured.
type trial struct {
	system
	program string
	// wait is how long processors that wait for the rest of a run do so.
	wait time.Duration
	gzip bool
}

// measure sends a load to a collector of its own.
func measure(ctx context.Context, t trial, work string, l load.Load) (m Measured, err error) {
	dir, err := os.MkdirTemp(work, t.name+"-")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, ended := context.WithCancelCause(ctx)
	p, err := launch(ctx, ended, t, dir)
	if err != nil {
		return m, err
	}
	m, err = p.measure(ctx, t, l)
	if err != nil {
		return m, errors.Join(err, context.Cause(ctx), p.kill(), p.excerpt())
	}
	if err := p.stop(); err != nil {
		return m, errors.Join(err, p.excerpt())
	}
	m.Stored, err = filesIn(filepath.Join(dir, "stored"))
	return m, err
}

func (p *process) measure(ctx context.Context, t trial, l load.Load) (m Measured, err error) {
	conn, err := grpc.NewClient(p.otlp, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	cpuBefore, err := p.cpu()
	if err != nil {
		return m, err
	}
	gcBefore, err := p.gcTime()
	if err != nil {
		return m, err
	}
	sent, err := load.Send(ctx, conn, l, load.Options{Lanes: lanes, Gzip: t.gzip})
	if err != nil {
		return m, err
	}
	end := time.Now()
	lost, err := p.settle(ctx, t, sent.Spans)
	if err != nil {
		return m, err
	}
	cpu, err := p.cpu()
	if err != nil {
		return m, err
	}
	gc, err := p.gcTime()
	if err != nil {
		return m, err
	}
	peak, err := p.peak()
	return Measured{
		System: t.name, CPU: (cpu - cpuBefore).Seconds(), GC: (gc - gcBefore).Seconds(), PeakRSS: peak,
		Spans: sent.Spans, Refused: sent.Refused, Elapsed: sent.Elapsed.Seconds(), Settle: time.Since(end).Seconds(), Lost: lost,
	}, err
}

// settle waits until the exporter has stored as many spans as were accepted, or as
// many as it ever will, and returns how many are missing.
func (p *process) settle(ctx context.Context, t trial, accepted int64) (lost int64, _ error) {
	if t.exporter == "" {
		return 0, nil
	}
	// Not more often, since to be asked is work too.
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	most := int64(-1)
	for moved := time.Now(); time.Since(moved) < t.wait+patience; {
		sum, err := p.metrics.Sum(ctx, "otelcol_exporter_sent_spans", `exporter="`+t.exporter+`"`)
		if err != nil {
			return 0, err
		}
		stored := int64(sum)
		if stored >= accepted {
			return 0, nil
		}
		if stored > most {
			most, moved = stored, time.Now()
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-tick.C:
		}
	}
	return accepted - most, nil
}

// filesIn is the size of all files in a directory.
func filesIn(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}
