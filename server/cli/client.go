package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"reeve/server"
	"reeve/server/local"
	"reeve/server/web"
	"reeve/store/kv"
)

// client sends the requests of a command: to the server that runs on the data directory or, if none
// does, to one in this process, which serves the command alone. A command thus does the same in
// both cases.
type client struct {
	http    http.Client
	running bool           // whether a server runs on the data directory
	server  *server.Server // server that answers while none runs; nil beside a running one
	reason  string         // reason for the change log; "" for none
	close   func() error
}

// connect returns a client for the data directory.
func (p *program) connect() (*client, error) {
	dir := p.config.DataDir
	pid, err := kv.Holder(dir)
	if err != nil {
		return nil, err
	}
	if err := p.needsDatabase(); err != nil {
		return nil, err
	}
	if pid == 0 {
		return p.serveItself()
	}

	c := newClient(func(ctx context.Context) (net.Conn, error) { return local.Dial(ctx, dir) })
	c.running, c.close = true, func() error { return nil }
	for begun := time.Now(); ; time.Sleep(startStep) { // the server may be starting
		err := c.get("/local/status", nil, nil)
		if err == nil {
			return c, nil
		}
		if time.Since(begun) > startTime {
			return nil, fmt.Errorf("process %d uses %s and does not answer on %s; if it is another command, wait for it: %w",
				pid, dir, local.Name, err)
		}
		if pid, err = kv.Holder(dir); err == nil && pid == 0 {
			return p.serveItself() // it was another command, which has ended
		}
	}
}

// needsDatabase returns an error unless there is a database, or the remains of one.
func (p *program) needsDatabase() error {
	if !kv.HasDatabase(p.config.DataDir) {
		return fmt.Errorf("there is no database in %s", p.config.DataDir)
	}
	return nil
}

// startTime is the time that a server gets to start, and startStep how often a command tries.
const (
	startTime = 3 * time.Second
	startStep = 50 * time.Millisecond
)

// askEvery is how often a command asks how far the server is.
const askEvery = 200 * time.Millisecond

func newClient(dial func(context.Context) (net.Conn, error)) *client {
	return &client{http: http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
	}}}
}

// serveItself returns a client of a server in this process, which does what the command asks for,
// the jobs that it begins included, and nothing else: it sends no mails and no webhooks. If root has started the
// command, the server has the rights of the owner of the data directory, while the files that the command names are
// opened with those of root.
func (p *program) serveItself() (*client, error) {
	settings, err := p.settings(nil)
	if err == nil {
		err = local.Divide(p.config.DataDir)
	}
	if err != nil {
		return nil, err
	}
	settings.Monitor.Off = true
	type result struct {
		c   *client
		err error
	}
	started := make(chan result)
	go func() {
		c, err := p.serveCommand(settings)
		started <- result{c, err}
	}()
	r := <-started
	return r.c, r.err
}

// serveCommand starts the server of serveItself.
func (p *program) serveCommand(settings web.Config) (*client, error) {
	s, err := p.newServer(settings)
	if err != nil {
		return nil, err
	}
	if err := p.configureBackups(s); err != nil { // it makes none: only their health is asked for
		return nil, errors.Join(err, s.DB.Close(), p.closeNode())
	}

	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		s.Jobs.Keep(ctx)
		ended <- errors.Join(s.DB.Close(), p.closeNode())
	}()
	c := p.clientOf(s)
	stop := c.close
	c.close = func() error {
		stop()
		cancel()
		return <-ended
	}
	return c, nil
}

// clientOf returns a client of a server in this process.
func (p *program) clientOf(s *server.Server) *client {
	pipe := local.NewPipe()
	stop := p.serveCommands(s, pipe)
	c := newClient(pipe.Dial)
	c.server = s
	c.close = func() error {
		c.http.CloseIdleConnections()
		stop()
		return nil
	}
	return c
}

// apiError is an error response.
type apiError struct {
	Status int               `json:"-"`
	Code   string            `json:"error"`
	Msg    string            `json:"msg"`
	Errors map[string]string `json:"errors"`
	API    string            `json:"errorCode"` // code of the API
	Retry  time.Duration     `json:"-"`         // delay after which the request can be sent again; 0 if it can't
}

func (e *apiError) Error() string {
	text := oneLine(e.Msg)
	if len(e.Errors) == 1 && strings.Contains(text, ":") {
		return text // which has it
	}
	for _, field := range slices.Sorted(maps.Keys(e.Errors)) {
		text += "\n  " + oneLine(field+": "+e.Errors[field])
	}
	return text
}

// do sends a request and returns the response, which the caller closes. body is encoded as JSON,
// unless it is nil. The error of an error response is an *apiError.
func (c *client) do(method, path string, query url.Values, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}

	target := url.URL{Scheme: "http", Host: "localhost", Path: path, RawQuery: query.Encode()}
	req, err := http.NewRequest(method, target.String(), content)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.reason != "" && method != http.MethodGet {
		req.Header.Set("X-Reason", url.PathEscape(c.reason))
	}

	local.SetLogin(req.Header)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, errors.Unwrap(err) // without the URL, which means nothing here
	}
	if resp.StatusCode < 400 {
		return resp, nil
	}

	defer resp.Body.Close()
	fault := &apiError{Status: resp.StatusCode, Msg: resp.Status}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil {
		err = json.Unmarshal(text, fault)
	}
	if err != nil {
		return nil, fmt.Errorf("the server answers %s", resp.Status)
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && fault.API == "busy" {
		fault.Retry = max(time.Duration(seconds)*time.Second, askEvery)
	}
	return nil, fault
}

// call sends a request and decodes the data of the response into to, unless it is nil.
func (c *client) call(method, path string, query url.Values, body, to any) error {
	_, err := c.write(method, path, query, body, to)
	return err
}

// write is call for a request that changes something. It returns the number of the entry of the change
// log; 0 if there is none.
func (c *client) write(method, path string, query url.Values, body, to any) (entry uint64, err error) {
	resp, err := c.do(method, path, query, body)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var envelope struct{ Data json.RawMessage }
	if err := json.NewDecoder(resp.Body).Decode(&envelope); err != nil {
		return 0, err
	}
	_, seq, _ := strings.Cut(resp.Header.Get("Reeve-Entry"), "-")
	entry, _ = strconv.ParseUint(seq, 10, 64) // 0 without the header
	if to == nil {
		return entry, nil
	}
	return entry, json.Unmarshal(envelope.Data, to)
}

func (c *client) get(path string, query url.Values, to any) error {
	return c.call(http.MethodGet, path, query, nil, to)
}

// made sends a request that changes a record, and returns the record.
func (c *client) made(method, path string, body any) (made record, err error) {
	err = c.call(method, path, nil, body, &made)
	return made, err
}

// pageSize is the number of records that a command reads at once.
const pageSize = 100

// all returns the records of a list that match a query, at most so many of them; 0 for all.
func (c *client) all(path string, query url.Values, most int) (all []record, err error) {
	query = maps.Clone(query)
	if query == nil {
		query = url.Values{}
	}
	query.Set("pageSize", fmt.Sprint(pageSize))
	for page := 1; ; page++ {
		query.Set("page", fmt.Sprint(page))
		var got struct{ Data []record }
		if err := c.get(path, query, &got); err != nil {
			return nil, err
		}

		all = append(all, got.Data...)
		if most > 0 && len(all) >= most {
			return all[:most], nil
		}
		if len(got.Data) < pageSize {
			return all, nil
		}
	}
}

// named returns the record of a list whose field has a value, and an error that names similar ones
// if there is none. what names such a record.
func (c *client) named(what, path, field, name string, query url.Values) (record, error) {
	all, err := c.all(path, query, 0)
	if err != nil {
		return nil, err
	}

	var known []string
	for _, r := range all {
		text := r.text(field)
		if strings.EqualFold(text, name) {
			return r, nil
		}
		known = append(known, text)
	}
	return nil, fmt.Errorf("there is no %s %s%s", what, name, similar(name, known))
}

// similar returns a text that names up to five known names, those with the longest common beginning first; "" if there are
// none.
func similar(name string, known []string) string {
	start := strings.ToLower(name)
	start = start[:min(len(start), 2)]
	close := slices.DeleteFunc(slices.Clone(known), func(text string) bool {
		return !strings.HasPrefix(strings.ToLower(text), start)
	})
	if len(close) == 0 {
		close = known
	}
	if len(close) == 0 {
		return ""
	}
	slices.SortStableFunc(close, func(a, b string) int { return common(b, name) - common(a, name) })
	return "; there is " + strings.Join(close[:min(len(close), 5)], ", ")
}

// common returns the number of bytes with which both texts begin, in any case.
func common(a, b string) (n int) {
	a, b = strings.ToLower(a), strings.ToLower(b)
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
