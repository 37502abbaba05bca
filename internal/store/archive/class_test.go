package archive_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

func TestAPartOfARunGoesToTheClassOfTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		class   string
		trusted bool
		want    string
	}{
		"as the processor says":   {"billing", true, "billing"},
		"from somebody unknown":   {"billing", false, "failures"},
		"that is no class at all": {"../x", true, "failures"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			td := decided(storetest.AgentRun(t, idA, noon, good), nil, tape.OutcomeFailed)
			at := td.ResourceSpans().At(0).Resource().Attributes()
			at.PutStr(attr.Class, c.class)
			if c.trusted {
				at.PutStr(attr.Redaction, "sha256:x")
			} else {
				at.Remove(attr.Redaction)
			}
			f.write(td)
			assert.Equal(t, []string{c.want}, f.classes(idA))
		})
	}
}
