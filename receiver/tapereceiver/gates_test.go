package tapereceiver

import _ "github.com/tapedeck/tapedeck/internal/gates"
