package recorder

import _ "github.com/tapedeck/tapedeck/internal/gates"
