package regress

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// Nothing of a message may end its line, nor of a property begin the next one.
var (
	githubMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// GitHub writes the failures as workflow commands, which GitHub shows at the line of
// the record concerned.
func (r *Report) GitHub(w io.Writer) error {
	for i := range r.Results {
		res := &r.Results[i]
		for _, f := range res.Failures {
			at := "file=" + githubProperty.Replace(filepath.ToSlash(res.Tape))
			if f.Line > 0 {
				at += fmt.Sprintf(",line=%d", f.Line)
			}
			title := githubProperty.Replace(filepath.ToSlash(res.Name) + ": " + f.Member)
			if _, err := fmt.Fprintf(w, "::error %s,title=%s::%s\n", at, title, githubMessage.Replace(f.Message)); err != nil {
				return err
			}
		}
	}
	return nil
}
