// Command tape lists, pulls, shows, imports and replays the tapes of agent
// runs. See docs/cli.md.
package main

import (
	"os"

	"github.com/tapedeck/tapedeck/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], cli.OS())) }
