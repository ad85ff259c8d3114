package reeve

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// ConfigQuery selects what Follow reads.
type ConfigQuery struct {
	Groups []string // keys of setting groups; nil for all that the key may read
	Dicts  []string // codes of dictionaries; nil for none, "*" for all that the key may read
}

// Config is the configuration of a program, kept up to date.
type Config struct {
	client *Client
	query  url.Values
	done   chan struct{}

	mu        sync.RWMutex
	etag      string
	current   configData
	listeners map[int]func()
	next      int // key of the next listener
}

type configData struct {
	Settings map[string]map[string]json.RawMessage `json:"settings"`
	Withheld []string                              `json:"withheld"`
	Dicts    map[string]Dict                       `json:"dicts"`
}

// Dict is an enabled dictionary.
type Dict struct {
	Name  string     `json:"name"`
	Type  string     `json:"type"`  // default, badge or tag
	Items []DictItem `json:"items"` // enabled items, in order
}

// DictItem is an item of a dictionary.
type DictItem struct {
	Label  string `json:"label"`
	Value  string `json:"value"`
	Status string `json:"status"` // colour: default, success, error, processing or warning
}

const (
	followWait = 30 * time.Second // that the server waits for a change
	followMin  = time.Second      // pause after a failure, which doubles
	followMax  = 30 * time.Second
)

// Follow reads settings and dictionaries, and then follows their changes until ctx ends. An error
// is that of the first read; after later ones, such as a server that restarts, the last values
// stay, and Follow tries again.
func (c *Client) Follow(ctx context.Context, q ConfigQuery) (*Config, error) {
	f := &Config{
		client:    c,
		query:     url.Values{},
		done:      make(chan struct{}),
		listeners: map[int]func(){},
	}
	if len(q.Groups) > 0 {
		f.query.Set("groups", strings.Join(q.Groups, ","))
	}
	if len(q.Dicts) > 0 {
		f.query.Set("dicts", strings.Join(q.Dicts, ","))
	}
	if err := f.read(ctx, 0); err != nil {
		return nil, err
	}

	go f.run(ctx)
	return f, nil
}

// run follows changes until the context ends.
func (f *Config) run(ctx context.Context) {
	defer close(f.done)
	for pause := followMin; ctx.Err() == nil; {
		// A server that shuts down answers at once, and so does one whose ETag is lost on the way.
		next := time.Now().Add(followMin)
		if err := f.read(ctx, followWait); err == nil {
			pause = followMin
		} else if ctx.Err() == nil {
			f.client.logger.Warn("reeve: the configuration can't be read; the last values stay",
				"error", err)
			next = time.Now().Add(pause + jitter(followMin))
			pause = min(2*pause, followMax)
		}
		select {
		case <-time.After(time.Until(next)):
		case <-ctx.Done():
		}
	}
}

// read reads the configuration, and with a duration waits for a change of it.
func (f *Config) read(ctx context.Context, wait time.Duration) error {
	a := f.client.newAttempt(http.MethodGet, "/config")
	query := maps.Clone(f.query)
	if wait > 0 {
		query.Set("wait", fmt.Sprint(int(wait.Seconds())))
		a.header.Set("If-None-Match", f.etag)
		a.limit += wait
	}

	a.target += "?" + query.Encode()
	res, err := f.client.send(ctx, a)
	if err != nil {
		return err
	}
	if res.status == http.StatusNotModified && wait > 0 {
		return nil
	}
	if res.status != http.StatusOK {
		return res.failure(a)
	}

	var data configData
	if err := res.decode(a, &data); err != nil {
		return err
	}
	if data.Settings == nil {
		return res.unexpected(a, nil)
	}

	f.mu.Lock()
	f.etag, f.current = res.header.Get("ETag"), data
	f.mu.Unlock()
	f.tell()
	return nil
}

// tell calls the functions that OnChange has added.
func (f *Config) tell() {
	f.mu.RLock()
	listeners := make([]func(), 0, len(f.listeners))
	for _, listener := range f.listeners {
		listeners = append(listeners, listener)
	}
	f.mu.RUnlock()
	for _, listener := range listeners {
		listener()
	}
}

// OnChange calls a function after each change, one change at a time. The function that it returns
// ends that.
func (f *Config) OnChange(changed func()) (remove func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := f.next
	f.next++
	f.listeners[key] = changed
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.listeners, key)
	}
}

// Done is closed when the configuration is no longer followed, since the context has ended.
func (f *Config) Done() <-chan struct{} { return f.done }

// Dict returns a dictionary by its code, and whether it is in the configuration.
func (f *Config) Dict(code string) (d Dict, ok bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	d, ok = f.current.Dicts[code]
	return d, ok
}

// Value returns the current value of a setting. The types of settings correspond to bool (switch),
// a type of number (number), []string (checkbox), anything (json), and string. The error says that
// there is no such setting, that the key may not read it, or that it has another type.
func Value[T any](f *Config, group, key string) (value T, err error) {
	f.mu.RLock()
	text, ok := f.current.Settings[group][key]
	withheld := f.current.Withheld
	f.mu.RUnlock()
	if !ok {
		for _, name := range withheld {
			if name == group+"."+key {
				return value,
					fmt.Errorf("reeve: %s.%s is a secret; the key needs the permission system.setting.secret.%s", group, key, group)
			}
		}
		return value, fmt.Errorf("reeve: there is no setting %s.%s in what is followed", group, key)
	}
	if err := json.Unmarshal(text, &value); err != nil {
		return value, fmt.Errorf("reeve: the setting %s.%s is not of the type %T", group, key, value) // its value can be a secret
	}

	return value, nil
}

// Setting is a setting with the type of its values; `reeve types go` writes one for each setting.
type Setting[T any] struct{ Group, Key string }

// In returns the current value, see [Value].
func (s Setting[T]) In(f *Config) (value T, err error) { return Value[T](f, s.Group, s.Key) }
