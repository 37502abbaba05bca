package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Drawing a table takes no longer for what does not fit.
func TestTableLooksAtWhatItShows(t *testing.T) {
	columns := []column{{title: "a"}, {title: "b", share: 1}}
	huge := strings.Repeat("é", 1<<20)
	tt := terminal{width: 40}
	text := tt.table(columns, [][]cell{{{text: "x"}, {text: huge}}, {{text: "y"}, {text: "\x1b[2J"}}})
	assert.Equal(t, "a  b\nx  "+strings.Repeat("é", 36)+"…\ny  \\x1b[2J\n", text)
	for _, row := range tt.presentable([][]cell{{{text: huge}}}) {
		assert.Less(t, len(row[0].text), 1000)
		assert.NotContains(t, row[0].text, "\ufffd")
	}
}

func TestOnlyColouredCellsHaveEscapes(t *testing.T) {
	tt := terminal{width: 40, colour: true}
	text := tt.table([]column{{title: "a"}, {title: "b"}}, [][]cell{{{text: "plain"}, {text: "bad", colour: red}}})
	assert.Contains(t, text, "\nplain  \x1b[31mbad\x1b[0m\n")
}
