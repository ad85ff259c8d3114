package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// client sends requests to one process, as one user once signed in.
type client struct {
	t     testing.TB
	base  string
	token string
	http  *http.Client
	extra map[string]string // additional headers

	commit *atomic.Pointer[string] // position of the last write at several nodes; nil if it is not sent
}

func newClient(t testing.TB, p *process) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: 32}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{
		t:      t,
		base:   p.url,
		http:   &http.Client{Transport: transport, Timeout: time.Minute},
		extra:  map[string]string{},
		commit: &atomic.Pointer[string]{},
	}
}

// signedIn returns a client of the first user with the usual password.
func signedIn(t testing.TB, p *process) *client {
	t.Helper()
	c := newClient(t, p)
	c.signIn(password)
	return c
}

// answer is the envelope of a response with its status, or the content if it has no
// envelope.
type answer struct {
	status    int
	header    http.Header
	closes    bool // whether it closes its connection
	raw       []byte
	Data      json.RawMessage   `json:"data"`
	Success   bool              `json:"success"`
	Msg       string            `json:"msg"`
	ErrorCode string            `json:"errorCode"`
	Errors    map[string]string `json:"errors"`
}

// do sends a request; "" is no body. A goroutine may call it.
func (c *client) do(method, path, body string) (*answer, error) {
	req, err := http.NewRequest(method, c.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}

	for name, value := range c.extra {
		req.Header.Set(name, value)
	}

	if c.commit != nil && c.commit.Load() != nil {
		req.Header.Set("Reeve-Commit", *c.commit.Load())
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}

	defer resp.Body.Close()
	if at := resp.Header.Get("Reeve-Commit"); at != "" && c.commit != nil {
		c.commit.Store(&at)
	}
	a := &answer{status: resp.StatusCode, header: resp.Header, closes: resp.Close}
	if a.raw, err = io.ReadAll(resp.Body); err != nil {
		return nil, err
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(a.raw, a); err != nil {
			return nil, fmt.Errorf("%s %s: %w in %s", method, path, err, a.raw)
		}
	}

	return a, nil
}

// call is do for a test that fails without a response.
func (c *client) call(method, path, body string) *answer {
	c.t.Helper()
	a, err := c.do(method, path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	return a
}

// want is call with a required status.
func (c *client) want(status int, method, path, body string) *answer {
	c.t.Helper()
	a := c.call(method, path, body)
	if a.status != status || a.Success != (status == 200) && a.Data != nil {
		c.t.Fatalf("%s %s %s: %d %s, want %d", method, path, body, a.status, a.raw, status)
	}
	return a
}

// into decodes the data of a response.
func into[T any](t testing.TB, a *answer) (v T) {
	t.Helper()
	if err := json.Unmarshal(a.Data, &v); err != nil {
		t.Fatalf("%v in %s", err, a.raw)
	}
	return v
}

type grant struct {
	Token              string `json:"token"`
	MustChangePassword int    `json:"must_change_password"`
}

func (c *client) signIn(password string) grant {
	c.t.Helper()
	g := into[grant](c.t,
		c.want(200, "POST", "/admin/login", object("username", "admin", "password", password)))
	c.token = g.Token
	return g
}

// object returns a JSON object from alternating names and values.
func object(pairs ...any) string {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(m); err != nil {
		panic(err) // only texts, numbers and maps of them are passed
	}
	return strings.TrimSpace(b.String())
}

// values returns the body that saves settings.
func values(pairs ...any) string { return `{"values":` + object(pairs...) + `}` }

type setting struct {
	ID     int64  `json:"id"`
	Key    string `json:"key"`
	Values string `json:"values"`
}

// settings returns the settings of a group, "" for every group.
func (c *client) settings(group string) map[string]setting {
	c.t.Helper()
	list := into[struct{ Data []setting }](c.t,
		c.want(200, "GET", "/system/setting?pageSize=1000&group_id="+group, ""))
	byKey := map[string]setting{}
	for _, s := range list.Data {
		byKey[s.Key] = s
	}
	return byKey
}

// group creates a setting group and returns its ID.
func (c *client) group(key string) string {
	c.t.Helper()
	g := into[struct{ ID int64 }](c.t,
		c.want(200, "POST", "/system/setting-group", object("key", key, "title", key)))
	return fmt.Sprint(g.ID)
}

// define creates a setting in a group and returns its ID.
func (c *client) define(group, key, kind, value string) int64 {
	c.t.Helper()
	a := c.want(200, "POST", "/system/setting", define(group, key, kind, value))
	return into[setting](c.t, a).ID
}

func define(group, key, kind, value string) string {
	return object("key", key, "title", key, "type", kind, "values", value, "group_id",
		json.Number(group))
}

// title returns the site's title in effect.
func (c *client) title() string {
	c.t.Helper()
	v := into[map[string]map[string]any](c.t, c.want(200, "GET", "/system/setting-value", ""))
	return fmt.Sprint(v["site"]["title"])
}
