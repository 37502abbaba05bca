package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

//go:embed config/usual-manifest.yaml
var manifest []byte

// build makes the usual collector and returns its path. One that was made from the
// same manifest before is used again.
func build(ctx context.Context, ocb, work string) (_ string, err error) {
	binary := filepath.Join(work, fmt.Sprintf("%s-%x", usualBinary, sha256.Sum256(manifest))[:len(usualBinary)+9])
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	// Outside of any other module, whose go.mod it would be built with.
	dir, err := os.MkdirTemp("", "bench-usual-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	config := filepath.Join(dir, "manifest.yaml")
	if err := os.WriteFile(config, manifest, 0o600); err != nil {
		return "", err
	}
	if ocb, err = filepath.Abs(ocb); err != nil {
		return "", err
	}
	fmt.Fprintln(os.Stderr, "building the usual collector, which takes a minute or two")
	cmd := exec.CommandContext(ctx, ocb, "--config", config)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, log.Bytes())
	}
	if err := os.MkdirAll(work, 0o750); err != nil {
		return "", err
	}
	return binary, copyFile(filepath.Join(dir, "src", usualBinary), binary)
}

// copyFile puts a program into another file system, perhaps, whole or not at all.
func copyFile(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to+".part", program, 0o700); err != nil {
		return err
	}
	return os.Rename(to+".part", to)
}

var releaseOf = regexp.MustCompile(`otlpreceiver (v\S+)`)

// release is the collector release of the manifest.
func release() string { return string(releaseOf.FindSubmatch(manifest)[1]) }
