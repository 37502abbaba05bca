package api

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/tape"
)

type listBody struct {
	Tapes []tape.Row `json:"tapes"`
	// NextCursor is null on the last page.
	NextCursor *string `json:"next_cursor"`
}

func (s *server) list(w http.ResponseWriter, r *http.Request) error {
	query, err := s.parseQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	page, err := s.store.Rows(r.Context(), query)
	if errors.Is(err, store.ErrBadCursor) {
		return badQuery("cursor", "was not given out by this API")
	}
	if err != nil {
		return err
	}
	body := listBody{Tapes: page.Rows}
	if page.Next != "" {
		body.NextCursor = &page.Next
	}
	writeJSON(w, http.StatusOK, body)
	return nil
}

var outcomes = []tape.Outcome{tape.OutcomeFailed, tape.OutcomeRecovered, tape.OutcomeIncomplete, tape.OutcomeSucceeded}

// parseQuery reads the members of a list request. A filter given several times
// matches any of its values. A member that is not known is refused: leaving out
// a mistyped filter would answer with what was not asked for.
func (s *server) parseQuery(raw string) (store.Query, error) {
	var q store.Query
	values, err := parseMembers(raw)
	if err != nil {
		return q, err
	}
	for _, name := range sortedNames(values) {
		given := values[name]
		switch name {
		case "outcome":
			for _, v := range given {
				if !slices.Contains(outcomes, tape.Outcome(v)) {
					return q, badQuery(name, "is one of failed, recovered, incomplete, succeeded")
				}
				q.Outcome = append(q.Outcome, tape.Outcome(v))
			}
		case "tool":
			q.Tool = given
		case "class":
			q.Class = given
		case "service":
			q.Service = given
		case "agent":
			q.Agent = given
		case "conversation_id":
			q.Conversation = given
		case "since":
			q.Since, err = s.parseTime(name, given)
		case "until":
			q.Until, err = s.parseTime(name, given)
		case tenantMember:
		case "limit":
			q.Limit, err = parseLimit(name, given)
		case "cursor":
			q.Cursor, err = single(name, given)
		default:
			err = badQuery(name, "is not known")
		}
		if err != nil {
			return q, err
		}
	}
	return q, nil
}

// parseTime reads a time, or a duration before now such as 24h.
func (s *server) parseTime(name string, given []string) (time.Time, error) {
	v, err := single(name, given)
	if err != nil {
		return time.Time{}, err
	}
	if t, err := time.Parse(time.RFC3339Nano, v); err == nil {
		return t, nil
	}
	if d, err := time.ParseDuration(v); err == nil && d >= 0 {
		return s.opts.Now().Add(-d), nil
	}
	return time.Time{}, badQuery(name, "is an RFC 3339 time or a duration before now, such as 24h")
}

func parseLimit(name string, given []string) (int, error) {
	v, err := single(name, given)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > store.MaxLimit {
		return 0, badQuery(name, fmt.Sprintf("is a number from 1 to %d", store.MaxLimit))
	}
	return n, nil
}

// parseMembers parses a query string. Empty values count as not given.
func parseMembers(raw string) (url.Values, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, &apiError{http.StatusBadRequest, codeBadQuery, "the query cannot be read: bad escape or separator", nil}
	}
	for name, given := range values {
		given = slices.DeleteFunc(given, func(v string) bool { return v == "" })
		if values[name] = given; len(given) == 0 {
			delete(values, name)
		}
	}
	return values, nil
}

func single(name string, given []string) (string, error) {
	if len(given) != 1 {
		return "", badQuery(name, "is given more than once")
	}
	return given[0], nil
}

// badQuery names the member and what is wrong with it.
func badQuery(name, what string) *apiError {
	return &apiError{http.StatusBadRequest, codeBadQuery, fmt.Sprintf("query member %q %s", name, what), nil}
}

// sortedNames makes the first error the same every time.
func sortedNames(values url.Values) []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	return names
}
