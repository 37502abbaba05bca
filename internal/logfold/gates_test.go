package logfold

import _ "github.com/tapedeck/tapedeck/internal/gates"
