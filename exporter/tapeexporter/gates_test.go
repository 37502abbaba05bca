package tapeexporter

import _ "github.com/tapedeck/tapedeck/internal/gates"
