package tapeprocessor

import _ "github.com/tapedeck/tapedeck/internal/gates"
