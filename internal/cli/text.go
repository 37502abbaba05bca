package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// clean makes text from outside fit for one line of a terminal: control
// characters, which could move the cursor or worse, are shown as escapes.
func clean(s string) string {
	if !strings.ContainsFunc(s, unprintable) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unprintable(r) {
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unprintable reports control characters and those that turn the direction of
// text around. Joiners, of which emoji are made, stay.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) || r == '\u2028' || r == '\u2029'
}

// runeWidth is the number of cells a rune takes.
func runeWidth(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cells is the number of cells a text takes.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// clip shortens a text to at most the given number of cells, the last of which
// is then an ellipsis.
func clip(s string, most int) string {
	if cells(s) <= most {
		return s
	}
	n := 0
	for i, r := range s {
		n += runeWidth(r)
		if n > most-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// pad fills a text with spaces to the given number of cells.
func pad(s string, to int) string { return s + strings.Repeat(" ", max(0, to-cells(s))) }

// padLeft fills a text with spaces from the left.
func padLeft(s string, to int) string { return strings.Repeat(" ", max(0, to-cells(s))) + s }

// count says how many of something there are.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// terminal is where reports for people go.
type terminal struct {
	// width in cells; assumed when there is neither a terminal nor $COLUMNS.
	width   int
	assumed bool
	colour  bool
}

// defaultWidth is assumed where there is no terminal to ask.
const defaultWidth = 120

// terminal describes a stream: its width from $COLUMNS or the terminal itself,
// and whether to use colours, which are for terminals only and can be turned off
// as no-color.org has it.
func (a *app) terminal(w any) terminal {
	t := terminal{width: defaultWidth, assumed: true}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		t.colour = a.Env("NO_COLOR") == "" && a.Env("TERM") != "dumb"
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			t.width, t.assumed = n, false
		}
	}
	if n, err := strconv.Atoi(a.Env("COLUMNS")); err == nil && n > 0 {
		t.width, t.assumed = n, false
	}
	return t
}

// The colours used, as ANSI codes.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	bold   = "1"
	faint  = "2"
)

// paint colours a text when the terminal has colours.
func (t terminal) paint(code, s string) string {
	if !t.colour || code == "" || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
