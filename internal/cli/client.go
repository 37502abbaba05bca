package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

// client speaks the HTTP API of the exporter.
type client struct {
	// base is the URL before /v1, where what to call it in messages.
	base, where string
	// token goes along as a bearer token, if there is one.
	token string
	// tenant is whose runs are asked for, "" for those without one.
	tenant string
	http   *http.Client
}

// How long a server may take: to connect, to begin an answer, to end it. The
// last leaves room for a large tape over a slow line.
const (
	connectTimeout = 5 * time.Second
	headerTimeout  = 60 * time.Second
	wholeTimeout   = 10 * time.Minute
)

// maxErrorBody bounds what is read of an answer that says what went wrong.
const maxErrorBody = 1 << 20

// tenantVariable names the tenant where --tenant does not.
const tenantVariable = "TAPE_TENANT"

// client gives the API that --server or --store names, and what releases it.
func (a *app) client() (c *client, done func(), err error) {
	if a.store != "" {
		c, done, err = a.storeClient()
	} else {
		c, done, err = a.serverClient()
	}
	if err != nil {
		return nil, nil, err
	}
	c.tenant = cmp.Or(a.tenant, a.Env(tenantVariable))
	return c, done, nil
}

func (a *app) serverClient() (c *client, done func(), err error) {
	server := a.server
	if server == "" {
		server = a.Env("TAPE_SERVER")
	}
	if server == "" {
		server = defaultServer
	}
	if !strings.Contains(server, "://") {
		server = "http://" + server
	}
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, nil, usage("%q is not the URL of a server, such as %s", server, defaultServer)
	}
	token, err := a.bearerToken()
	if err != nil {
		return nil, nil, err
	}
	trust, err := a.trust()
	if err != nil {
		return nil, nil, err
	}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSHandshakeTimeout:   connectTimeout,
		TLSClientConfig:       trust,
		ResponseHeaderTimeout: headerTimeout,
	}
	c = &client{
		base: strings.TrimRight(server, "/"), where: u.Redacted(), token: token,
		http: &http.Client{Transport: transport, Timeout: wholeTimeout},
	}
	return c, transport.CloseIdleConnections, nil
}

// apiError is an answer of the API that says no.
type apiError struct {
	status  int
	where   string
	Code    string
	Message string
	// Row is what is known about a run that was not kept.
	Row *tape.Row
}

func (e *apiError) Error() string {
	switch {
	case e.Message != "":
		return e.Message
	case e.Code != "":
		return e.Code
	case e.status == http.StatusUnauthorized || e.status == http.StatusForbidden:
		return fmt.Sprintf("%s answered %d %s: --token or $%s is the token it gets", e.where, e.status, http.StatusText(e.status), tokenVariable)
	}
	return fmt.Sprintf("%s answered %d %s: is it the tape API?", e.where, e.status, http.StatusText(e.status))
}

// code is the exit code that an answer of the API stands for.
func (e *apiError) code() int {
	if e.status == http.StatusBadRequest {
		return exitUsage
	}
	return exitMissing
}

// do sends a request and gives the answer if it is a good one. The caller
// closes the body. Any error has its exit code.
func (c *client) do(ctx context.Context, method, path string, query url.Values) (*http.Response, error) {
	if c.tenant != "" {
		// Not as the header X-Scope-OrgID, which cannot hold every name.
		if query = maps.Clone(query); query == nil {
			query = url.Values{}
		}
		query.Set("tenant", c.tenant)
	}
	target := c.base + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		return nil, usage("%w", err)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		return nil, missing("%s does not answer: %w", c.where, err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	e := &apiError{status: resp.StatusCode, where: c.where}
	var body struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
		Row *tape.Row `json:"row"`
	}
	if json.NewDecoder(io.LimitReader(resp.Body, maxErrorBody)).Decode(&body) == nil {
		e.Code, e.Message, e.Row = body.Error.Code, body.Error.Message, body.Row
	}
	return nil, &exitError{e.code(), e}
}

// list gives one page of rows and the cursor of the next, "" after the last.
func (c *client) list(ctx context.Context, query url.Values) ([]tape.Row, string, error) {
	resp, err := c.do(ctx, http.MethodGet, "/v1/tapes", query)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	var page struct {
		Tapes      []tape.Row `json:"tapes"`
		NextCursor string     `json:"next_cursor"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&page); err != nil {
		return nil, "", missing("%s: the list cannot be read: %w", c.where, err)
	}
	return page.Tapes, page.NextCursor, nil
}

// pull gives the text of a tape, whole. Query is as the API has it.
func (c *client) pull(ctx context.Context, id string, query url.Values) ([]byte, error) {
	resp, err := c.do(ctx, http.MethodGet, "/v1/tapes/"+id, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, missing("%s: the tape came in part only: %w", c.where, err)
	}
	return text, nil
}

// remove deletes a tape.
func (c *client) remove(ctx context.Context, id string) error {
	resp, err := c.do(ctx, http.MethodDelete, "/v1/tapes/"+id, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
