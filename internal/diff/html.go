package diff

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"value": func(v []byte) string {
		if v == nil {
			return "(absent)"
		}
		return string(v)
	},
	"place": func(c Change) string { return c.Place() },
	"ref": func(r *Ref) string {
		switch {
		case r == nil:
			return "the end"
		case r.Seq == 0:
			return fmt.Sprintf("a call of %s", r.Tool)
		}
		return fmt.Sprintf("step %d, %s", r.Seq, r.Tool)
	},
}).Parse(pageText))

// maxOnPage bounds the steps that a page shows.
const maxOnPage = 1000

// HTML writes the comparison as a page that loads nothing and runs nothing. It shows
// the first 1,000 steps that differ. What tapes say is shown as text.
func (r *Report) HTML(w io.Writer) error {
	data := struct {
		*Report
		Shown []Step
		More  int
	}{Report: r, Shown: r.Steps}
	if n := len(r.Steps) - maxOnPage; n > 0 {
		data.Shown, data.More = r.Steps[:maxOnPage], n
	}
	return page.Execute(w, data)
}
