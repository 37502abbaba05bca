package once_test

import _ "github.com/tapedeck/tapedeck/internal/gates"
