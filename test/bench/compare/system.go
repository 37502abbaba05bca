package main

import (
	"embed"
	"os"
	"path"
	"path/filepath"
)

//go:embed config
var configs embed.FS

const (
	usualBinary = "otelcol-usual"
	tapeBinary  = "otelcol-tape"
)

// system is a collector to compare.
type system struct {
	name, binary string
	// configs are files of the directory config, merged in this order.
	configs []string
	// exporter is the one whose count of sent spans says when all is stored. One
	// that stores nothing counts nothing.
	exporter string
}

var systems = []system{
	{name: "bare", binary: usualBinary, configs: []string{"common", "bare"}},
	{name: "usual", binary: usualBinary, configs: []string{"common", "usual-redaction", "usual"}, exporter: "file"},
	{name: "groupbytrace", binary: usualBinary, configs: []string{"common", "usual-redaction", "groupbytrace"}, exporter: "file"},
	{name: "tapedeck", binary: tapeBinary, configs: []string{"common", "tapedeck"}, exporter: "tape"},
}

// arguments writes the configuration into a directory and returns the flags that
// name it.
func (s system) arguments(dir string) ([]string, error) {
	var args []string
	for _, name := range s.configs {
		text, err := configs.ReadFile(path.Join("config", name+".yaml"))
		if err != nil {
			return nil, err
		}
		file := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return nil, err
		}
		args = append(args, "--config", file)
	}
	return args, nil
}
