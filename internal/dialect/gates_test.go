package dialect

import _ "github.com/tapedeck/tapedeck/internal/gates"
