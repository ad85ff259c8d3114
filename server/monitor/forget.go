package monitor

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"reeve/store"
	"reeve/store/fold"
	"reeve/store/journal"
	"reeve/store/kv"
)

// Person is a user whose events Forget removes.
type Person struct {
	ID  store.ID
	App bool
	// Texts identify the person in events of others: username (the first), email, phone number.
	Texts []string
}

// forgotten is a person, and when Forget was called. Requests that began earlier may still be in
// the queue.
type forgotten struct {
	Person
	at store.Time
}

// errNotOpen is returned by Forget until Run has opened the journal.
var errNotOpen = errors.New("monitoring is not open yet")

// Forget removes the events of a person's requests, of requests that another user made as the
// person, and of other requests that name the person: sign-ins, changes of the user, and bodies and
// queries with one of the texts. It removes the username from counts. It returns the number of
// events. It can be repeated.
func (m *Monitor) Forget(p Person) (removed int, err error) {
	m.forgetting.Lock()                                                                                            // the queue must not be written between the two steps
	m.forgotten = slices.DeleteFunc(m.forgotten, func(f forgotten) bool { return f.ID == p.ID && f.App == p.App }) // of an earlier attempt
	m.forgotten = append(m.forgotten, forgotten{p, kv.TimeOf(time.Now())})
	m.forgetting.Unlock()
	m.traces.forget(p)
	j := m.journal.Load()
	if j == nil {
		_, err := os.Stat(m.dir())
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return 0, nil
		case err != nil:
			return 0, err
		case !m.config.Off:
			return 0, errNotOpen
		}
		j = m.openJournal() // of a time when monitoring was on
		defer func() { err = errors.Join(err, j.Close()) }()
	}

	removed, err = j.Remove(p.matches)
	return removed, errors.Join(err, m.counter.forget(j, p))
}

// isForgotten reports whether a record is about a person whom Forget has removed since. The caller
// holds forgetting.
func (m *Monitor) isForgotten(r *record, group *journal.Group) bool {
	return slices.ContainsFunc(m.forgotten, func(f forgotten) bool {
		return r.index.at <= f.at && slices.ContainsFunc(group.Events, f.matches)
	})
}

// matches reports whether an event names the person, or belongs to a request by the person, or by
// another user as the person.
func (p *Person) matches(e journal.Event) bool {
	if h, ok := readHeader(e.Head); ok && h.user == p.ID && h.app == p.App || p.isActedAs(e.Body) {
		return true
	}
	switch e.Kind {
	case AuthKind:
		return p.isIn(e.Body) && p.matchesAuth(e.Body)
	case RequestKind:
		return (bytes.Contains(e.Body, []byte(p.path())) || p.isIn(e.Body)) &&
			p.matchesRequest(e.Body)
	}
	return false
}

// isActedAs reports whether another user acted as the person.
func (p *Person) isActedAs(body []byte) bool {
	head, _, _ := bytes.Cut(body, []byte(`,"host_name":`))
	return !p.App && bytes.HasSuffix(head, []byte(`,"as_id":`+p.ID.String()+`}`))
}

// isIn reports whether a text of the person may occur anywhere in an event: whether one reads the
// same, or the event has escapes, which matchesRequest decodes.
func (p *Person) isIn(body []byte) bool {
	if bytes.ContainsAny(body, `%\`) {
		return true
	}
	key := fold.Key(string(body))
	return slices.ContainsFunc(p.Texts, func(text string) bool {
		return strings.Contains(key, fold.Key(text))
	})
}

// path is the path of the user in the API.
func (p *Person) path() string {
	if p.App {
		return "/user/list/" + p.ID.String()
	}
	return "/admin/list/" + p.ID.String()
}

// appRoutes begin the routes whose events are about app users. The others are about users.
var appRoutes = []string{"/api/", "/app/", "/user/"}

// matchesAuth reports whether an event is about the person. Users of both realms can have the same
// name.
func (p *Person) matchesAuth(body []byte) bool {
	var e struct{ Username, Route string }
	if json.Unmarshal(body, &e) != nil {
		return true // whom it is about is unknown
	}
	app := slices.ContainsFunc(appRoutes, func(of string) bool { return strings.HasPrefix(e.Route, of) })
	return app == p.App && slices.ContainsFunc(p.Texts, func(text string) bool {
		return fold.Key(e.Username) == fold.Key(text) || fold.SameAddress(e.Username, text)
	})
}

// matchesRequest reports whether a request of another user has changed the user, or names the
// person. The request that erases the person has no name.
func (p *Person) matchesRequest(body []byte) bool {
	var e struct{ URI, Payload, Message, Route string }
	if json.Unmarshal(body, &e) != nil {
		return true
	}

	path, query, _ := strings.Cut(e.URI, "?")
	if (path == p.path() || strings.HasPrefix(path, p.path()+"/")) && e.Payload != "" &&
		!strings.HasSuffix(e.Route, "/erase") {
		return true
	}
	if plain, err := url.QueryUnescape(query); err == nil {
		query = plain
	}

	query, payload, words := fold.Key(query), fold.Key(e.Payload), strings.FieldsFunc(fold.Key(e.Message), isSeparator)
	return slices.ContainsFunc(p.Texts, func(text string) bool {
		text = fold.Key(text)
		return strings.Contains(query, text) || strings.Contains(payload, `"`+text+`"`) ||
			slices.Contains(words, text)
	})
}

func isSeparator(r rune) bool { return strings.ContainsRune(" ,;:\"'()", r) }

// forget removes a user from the counts.
func (c *counter) forget(j *journal.Journal, p Person) error {
	if len(p.Texts) == 0 {
		return nil // only the ID is known, and counts have the name
	}

	user := "admin " + p.Texts[0]
	if p.App {
		user = "app " + p.Texts[0]
	}

	c.saving.Lock()
	defer c.saving.Unlock()
	c.mu.Lock()
	c.settle()
	delete(c.now.Users, user)
	for _, minute := range c.past {
		delete(minute.Users, user)
	}

	c.mu.Unlock()
	for _, hour := range c.hours {
		delete(hour.Users, user)
	}

	return errors.Join(forgetRows(j, minuteTable, user), forgetRows(j, hourTable, user))
}

// rowsAtOnce is the number of rows that one commit replaces.
const rowsAtOnce = 200

// forgetRows removes a user from the stored counts.
func forgetRows(j *journal.Journal, table, user string) error {
	changed := map[string][]byte{}
	for key, row := range j.Rows(table, "", "~") {
		stored := newCounts()
		if json.Unmarshal(row, stored) != nil {
			continue
		}
		if _, has := stored.Users[user]; !has {
			continue
		}
		delete(stored.Users, user)
		if changed[key] = stored.row(); len(changed) == rowsAtOnce {
			if err := j.SetRows(table, changed); err != nil {
				return err
			}
			changed = map[string][]byte{}
		}
	}
	return j.SetRows(table, changed)
}

// forget removes the name of a person from the traces.
func (t *traces) forget(p Person) {
	if p.App || len(p.Texts) == 0 {
		return
	}

	t.mu.Lock()
	defer t.mu.Unlock()
	live := t.live.Load()
	if live == nil {
		live = &[]*liveTrace{}
	}

	for _, l := range slices.Concat(*live, t.ended) {
		if l.UserID == p.ID {
			l.Username = ""
		}
		if slices.Contains(strings.Split(l.CreatedBy, " as "), p.Texts[0]) { // see store.Actor.Label
			l.CreatedBy = ""
		}
	}
}
