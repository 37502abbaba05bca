package cli

import "strings"

// column is one column of a table.
type column struct {
	title string
	// right aligns to the right.
	right bool
	// share is the column's part of the width that the others leave; 0 is a
	// column as wide as its widest cell.
	share int
}

// cell is one cell: its text, and the colour to paint it with.
type cell struct {
	text, colour string
}

// minShare is the least width of a column that shares what is left.
const minShare = 12

// table renders rows under a title line, fitted to the terminal: columns with a
// share divide what the others leave. The last column is never padded.
func (t terminal) table(columns []column, rows [][]cell) string {
	rows = t.presentable(rows)
	widths := t.fit(columns, rows)
	var b strings.Builder
	line := func(cells []cell) {
		var row strings.Builder
		for i, c := range cells {
			text := clip(c.text, widths[i])
			switch {
			case columns[i].right:
				text = padLeft(text, widths[i])
			case i < len(cells)-1:
				text = pad(text, widths[i])
			}
			if i > 0 {
				row.WriteString("  ")
			}
			row.WriteString(t.paint(c.colour, text))
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	titles := make([]cell, len(columns))
	for i, c := range columns {
		titles[i] = cell{c.title, bold}
	}
	line(titles)
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

// presentable cleans the texts of cells. What no terminal can show is left out
// before it is looked at, as a result may have hundreds of megabytes.
func (t terminal) presentable(rows [][]cell) [][]cell {
	// Bytes a cell of the screen may take: any letter, and marks upon it.
	const room = 16
	out := make([][]cell, len(rows))
	for i, r := range rows {
		out[i] = make([]cell, len(r))
		for j, c := range r {
			if most := room * t.width; len(c.text) > most {
				c.text = strings.ToValidUTF8(c.text[:most], "") + "…"
			}
			out[i][j] = cell{clean(c.text), c.colour}
		}
	}
	return out
}

// fit gives each column its width.
func (t terminal) fit(columns []column, rows [][]cell) []int {
	widths := make([]int, len(columns))
	left, shares := t.width-2*(len(columns)-1), 0
	for i, c := range columns {
		widths[i] = cells(c.title)
		for _, r := range rows {
			widths[i] = max(widths[i], cells(r[i].text))
		}
		if shares += c.share; c.share == 0 {
			left -= widths[i]
		}
	}
	for i, c := range columns {
		if c.share == 0 {
			continue
		}
		// What a short column leaves goes to those after it.
		want := max(minShare, left*c.share/shares)
		widths[i] = min(widths[i], want)
		left -= widths[i]
		shares -= c.share
	}
	return widths
}
