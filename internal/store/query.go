package store

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/internal/store/rowfile"
	"github.com/tapedeck/tapedeck/tape"
)

// Limits of a page.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// Query selects rows. An empty member selects all; a member with several
// values selects rows that match any of them.
type Query struct {
	Outcome []tape.Outcome
	// Tool matches rows of runs that called the tool.
	Tool []string
	// Class matches the retention class of a run and its failure class alike.
	Class        []string
	Service      []string
	Agent        []string
	Conversation []string
	// KeptOnly leaves out runs of which there is only a row.
	KeptOnly bool
	// Since and Until bound the time of the decision: at or after Since, before
	// Until.
	Since, Until time.Time
	// Limit is the length of a page; 0 is DefaultLimit, and MaxLimit the most.
	Limit int
	// Cursor continues after an earlier page of the same query.
	Cursor string
}

// Page is a part of the answer to a query, newest decision first.
type Page struct {
	Rows []tape.Row
	// Next continues the query; "" when this is the last page.
	Next string
}

// match says whether a row has what is asked for. Its time is not looked at.
func (q *Query) match(row *tape.Row) bool {
	switch {
	case q.KeptOnly && !row.Kept,
		!anyOf(q.Outcome, row.Outcome),
		!anyOf(q.Service, row.Service),
		!anyOf(q.Agent, row.Agent),
		!anyOf(q.Conversation, row.ConversationID),
		!anyOf(q.Class, row.Class) && !anyOf(q.Class, row.FailureClass):
		return false
	}
	return len(q.Tool) == 0 || slices.ContainsFunc(row.Tools, func(tool string) bool {
		return slices.Contains(q.Tool, tool)
	})
}

// conditions are those of match that columns of texts can tell.
func (q *Query) conditions() []rowfile.Condition {
	var list []rowfile.Condition
	add := func(values []string, columns ...string) {
		if len(values) > 0 {
			list = append(list, rowfile.Condition{Columns: columns, Values: values})
		}
	}
	outcomes := make([]string, len(q.Outcome))
	for i, o := range q.Outcome {
		outcomes[i] = string(o)
	}
	add(outcomes, "outcome")
	add(q.Service, "service")
	add(q.Agent, "agent")
	add(q.Conversation, "conversation_id")
	add(q.Class, "class", "failure_class")
	return list
}

func anyOf[T comparable](wanted []T, value T) bool {
	return len(wanted) == 0 || slices.Contains(wanted, value)
}

// cursor is a position in the order of rows: by time of decision, then by
// trace id, both descending.
type cursor struct {
	// asOf is the newest decision when the first page was read. Rows decided
	// later are not there for the pages that follow, so a run that gets a newer
	// row between two pages is neither missed nor shown twice.
	asOf time.Time
	// at and id are those of the last row shown.
	at time.Time
	id string
}

func (c *cursor) String() string {
	text := formatTime(c.asOf) + " " + formatTime(c.at) + " " + c.id
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

func parseCursor(s string) (*cursor, error) {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("%w: not base64", ErrBadCursor)
	}
	parts := strings.Split(string(raw), " ")
	if len(parts) != 3 {
		return nil, ErrBadCursor
	}
	c := &cursor{asOf: parseTime(parts[0]), at: parseTime(parts[1])}
	c.id, err = ParseTraceID(parts[2])
	if err != nil || c.asOf.IsZero() || c.at.IsZero() {
		return nil, ErrBadCursor
	}
	return c, nil
}

// passed reports whether the row comes after the cursor in the order shown.
func (c *cursor) passed(at time.Time, id string) bool {
	if at.Equal(c.at) {
		return id < c.id
	}
	return at.Before(c.at)
}
