// Package changes shows the change log: as entries, as the history of a record, as the activity
// of a user, and as events in a stream. It undoes entries.
//
// A View decides which parts of the log a caller may read. Streams wakes the readers that follow
// it, webhooks included.
package changes

import (
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"reeve/server/jobs"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

func init() {
	web.Enums(map[string][]string{
		"actor_kind":  {"user", "app_user", "key", "system", "cli", "anonymous", "unknown"},
		"collection":  slices.Sorted(maps.Keys(store.Accesses())),
		"change_kind": {"create", "update", "delete"},
		"undo_lost": {store.LostPassword, store.LostSession, store.LostFactor, store.LostAvatar,
			store.LostSecret, store.LostURL, store.LostContent, store.LostErased},
	})
}

func AuditRoutes(js *jobs.Runner) []web.Route {
	undo := entryUndo{js, &sync.Mutex{}}
	return []web.Route{
		auditList("/system/audit", "system.audit.query", "List audit entries", web.Options{
			Note: "The newest first. actor is a kind and an ID, such as user:7, or system or cli; " +
				"address is an IP address or a network; operation is a method and a route, such as " +
				"PUT /admin/role/:id, or a title. With a data scope other than all, it has entries " +
				"of users and about records in the scope.",
		}),
		web.Action("GET", "/system/audit/:seq", "system.audit.query", "Get an audit entry",
			getLogEntry, web.Options{
				Note: "With values in full, and with what undoing it would do.",
			}),
		web.Action("POST", "/system/audit/:seq/undo", "system.audit.undo", "Undo an audit entry",
			undo.undoEntry, web.Options{
				Validates: true,
				Note: "Applies the inverse of all changes of the entry through the rules of those " +
					"operations, for which you need the permissions, too. All of a large operation, such " +
					"as an import, is undone. 409 changed_since names the fields that have been changed " +
					"since.",
			}),
		web.Action("POST", "/system/audit-undo", "system.audit.undo", "Undo what an actor did",
			undo.undoAll, web.Options{
				Validates:        true,
				RequiresScopeAll: true,
				Note: "Undoes all changes of a user, an app user or an API key since a time, the last one " +
					"first, as undoing each of the entries would: a record must be as the actor left it, " +
					"and becomes what it was before. 409 changed_since names the fields that have been " +
					"changed since; leave_changed leaves these records as they are. Many records are a job. Requires " +
					"the data scope all.",
			}),
		web.Action("GET", "/system/history/:collection/:id", "system.audit.query",
			"Get a record's history", getHistory, web.Options{
				Note: "The changes of one record, the newest first. Requires the permission to read the " +
					"record, too.",
			}),
		web.Raw("/system/audit-export", "system.audit.export", "Export the audit log", jsonLines,
			exportLog, web.Options{
				LoggedAs:         "export",
				RequiresScopeAll: true,
				Note: "JSON lines: each entry exactly as it is stored, so that `reeve audit verify` can " +
					"check the chain of hashes. Personal values are sealed. Requires the data scope all.",
			}),
		web.Action("GET", "/admin/account/activity", web.SignedIn, "List your own activity",
			ownActivity, web.Options{
				Keys: web.ByNoKey,
				Note: "What the change log has of you, also if somebody acted as you. pageSize is at most " +
					"1000; next is the value of before for the next page.",
			}),
	}
}

const (
	jsonLines = "application/x-ndjson"

	logBatch   = 100     // entries that are read at once
	maxLogScan = 20_000  // entries that one request looks at
	logBytes   = 1 << 20 // bytes of entries that are read at once, and that one page has
	logExport  = 500     // entries that an export reads at once
)

// LogPage is a page of the change log.
type LogPage struct {
	Data     []*LogEntry `json:"data" doc:"Entries, the newest first. A page can have fewer than pageSize, or none, although next is not 0"`
	Total    *int        `json:"total" null:"true" doc:"Number of matching entries; null if counting them would mean reading all of them"`
	PageSize int         `json:"pageSize" doc:"Maximum number of entries per page"`
	Current  int         `json:"current" doc:"1: pages follow one another by before"`
	Next     uint64      `json:"next" doc:"Value of before for the next page; 0 on the last one"`
	Damaged  store.Flag  `json:"damaged,omitempty" doc:"1 if a part of the log cannot be read, so that entries or values may be missing; otherwise absent"`
}

// auditList returns the route of the list. Its pages follow one another by the number of the last
// entry, since new entries are added at the beginning all the time.
func auditList(path, access, title string, options ...web.Options) web.Route {
	info := &web.ListInfo{
		Keywords: []string{"names of people and records: finds what they did and what was done to them"}, Order: "newest first",
		Columns: []web.ColumnInfo{
			{Name: "at", Uses: web.Ranged, Number: true}, {
				Name:   "before",
				Uses:   web.Param,
				Number: true,
			}, {Name: "actor", Uses: web.FieldUse, Number: false}, {
				Name:   "collection",
				Uses:   web.FieldUse,
				Number: false,
			}, {Name: "record", Uses: web.Param, Number: true},
			{Name: "change", Uses: web.FieldUse, Number: false}, {
				Name:   "operation",
				Uses:   web.FieldUse,
				Number: false,
			}, {Name: "action", Uses: web.FieldUse, Number: false}, {
				Name:   "job",
				Uses:   web.Param,
				Number: true,
			}, {Name: "address", Uses: web.Param, Number: false},
		},
	}
	rt := web.Route{
		Method:  "GET",
		Path:    path,
		Access:  access,
		Title:   title,
		Output:  reflect.TypeFor[*LogPage](),
		List:    info,
		Handler: "auditList",
	}
	rt.Act = func(req *web.Request, out *web.Envelope) error {
		ask, err := info.Ask(req)
		if err != nil {
			return err
		}
		if ask.Page > 1 {
			return errs.Field(errs.Malformed, "page", "can't be used in this list; use before")
		}

		q, err := logQueryOf(ask)
		if err != nil {
			return err
		}
		if err := q.findNames(req, ask.Search); err != nil {
			return err
		}

		page, err := q.page(req)
		if err != nil {
			return err
		}

		return out.Record(req, page)
	}

	return rt.With(options...)
}

// logQuery is a query of the change log.
type logQuery struct {
	audit.Query
	before  uint64
	size    int
	address netip.Prefix               // invalid for any
	none    bool                       // no entry can match
	only    func(c *audit.Change) bool // filter of changes; nil for all
	damaged store.Flag                 // a damaged record may meet the search
}

// changeKinds are the operations of a change.
var changeKinds = []string{"create", "update", "delete"}

// logQueryOf converts a list query.
func logQueryOf(ask *web.ListQuery) (*logQuery, error) {
	q, faults := &logQuery{size: ask.Size}, errs.Faults{}
	for _, r := range ask.Ranges {
		q.From, q.To = max(int64(r.Low), 1), min(int64(r.High), 1<<62)
	}

	texts := map[string][]string{}
	for _, of := range ask.AnyOf {
		texts[of.Column] = append(texts[of.Column], of.Texts...)
		if slices.Contains([]string{"before", "record", "job"}, of.Column) && of.Numbers[0] < 1 {
			faults.Add(of.Column, "must be a positive integer")
		}
	}

	if of := texts["before"]; of != nil {
		q.before, _ = strconv.ParseUint(of[0], 10, 64) // a number, as checked above
	}

	q.subjects(texts)
	if of := texts["actor"]; of != nil {
		q.any(of, func(text string) []string { return []string{actorTerm(text)} })
	}
	if of := texts["operation"]; of != nil {
		q.any(of, func(text string) []string { return []string{audit.ByOperation(text)} })
	}
	if of := texts["action"]; of != nil {
		q.any(of, func(text string) []string { return []string{audit.ByAction(text)} })
	}
	if of := texts["job"]; of != nil {
		id, _ := strconv.ParseUint(of[0], 10, 64) // a number, as checked above
		q.All = append(q.All, []string{audit.ByJob(id)})
	}
	if of := texts["address"]; of != nil {
		q.setAddress(of[0])
	}

	return q, faults.Err(errs.Malformed)
}

// subjects adds the conditions about the changed records.
func (q *logQuery) subjects(texts map[string][]string) {
	collections, kinds, records := texts["collection"], texts["change"], texts["record"]
	if collections == nil && kinds == nil && records == nil {
		return
	}
	if collections == nil {
		collections = slices.Sorted(maps.Keys(store.Accesses()))
	}
	if records != nil {
		id, _ := strconv.ParseUint(records[0], 10, 64) // a number, as checked by the caller
		q.any(collections, func(collection string) []string {
			return []string{audit.ByRecord(collection, id)}
		})
	}
	if kinds == nil && records != nil {
		return
	}
	if kinds == nil {
		kinds = changeKinds
	}

	q.any(collections, func(collection string) (terms []string) {
		for _, kind := range kinds {
			terms = append(terms, audit.ByChange(collection, kind))
		}
		return terms
	})
}

// any adds the condition that an entry has a term of one of the texts.
func (q *logQuery) any(texts []string, terms func(string) []string) {
	var list []string
	for _, text := range texts {
		list = append(list, terms(text)...)
	}
	q.All = append(q.All, list)
}

// actorTerm returns the term for an actor such as user:7, app_user:3 or system.
func actorTerm(text string) string {
	kind, number, _ := strings.Cut(text, ":")
	id, _ := strconv.ParseUint(number, 10, 64) // 0 finds only actors without an ID
	return audit.ByActor(kind, id)
}

// setAddress adds the condition that the client address is this one, or in this network.
func (q *logQuery) setAddress(text string) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		var addr netip.Addr
		if addr, err = netip.ParseAddr(text); err == nil {
			prefix, err = addr.Unmap().WithZone("").Prefix(addr.Unmap().BitLen())
		}
	}
	q.address, q.none = prefix.Masked(), err != nil
}

// page reads a page and counts what matches, if that can be done without reading everything.
func (q *logQuery) page(req *web.Request) (*LogPage, error) {
	page := &LogPage{Data: []*LogEntry{}, PageSize: q.size, Current: 1, Damaged: q.damaged}
	if q.none {
		page.Total = new(int)
		return page, nil
	}
	countable, err := q.read(req, page)
	if err != nil || !countable {
		return page, err
	}
	total, err := req.DB.DB.CountLog(q.Query)
	noteDamage(&page.Damaged, &err)
	page.Total = &total
	return page, err
}

// noteDamage turns damage of a part of the log into the mark of a page: everything else is
// readable, and the health report names the damage.
func noteDamage(damaged *store.Flag, err *error) {
	if store.IsDamage(*err) {
		*damaged, *err = true, nil
	}
}

// read fills a page. countable is true if the caller may read all entries that match.
func (q *logQuery) read(req *web.Request, page *LogPage) (countable bool, err error) {
	before, left, shown := q.before, maxLogScan, 0
	for {
		rows, more, err := search(req, q.Query, before, min(logBatch, left))
		if noteDamage(&page.Damaged, &err); err != nil {
			return false, err
		}

		full, used := false, 0
		err = req.DB.View(req.Actor, func(tx *store.Tx) error {
			view := NewView(tx, req.Actor)
			countable = view.Scope.All && !q.address.IsValid()
			for _, row := range rows {
				if full = len(page.Data) == q.size || shown > logBytes; full {
					break
				}
				used++
				before := len(page.Data)
				if err := q.take(view, row, page); err != nil {
					return err
				}
				if len(page.Data) > before {
					shown += len(row.Text)
				}
			}

			page.Damaged = page.Damaged || view.log.Damaged() > 0
			return nil
		})

		left -= used
		if used > 0 {
			before = rows[used-1].Seq
		}

		switch {
		case err != nil:
			return false, err
		case full, more && left <= 0:
			page.Next = before
			return countable, nil
		case !more:
			return countable, nil
		}
	}
}

// search returns the newest entries that match, at most limit and about logBytes. more is true if
// there may be others.
func search(req *web.Request, q audit.Query, before uint64,
	limit int) (rows []audit.Row, more bool, err error) {
	bytes := 0
	err = req.DB.DB.SearchLog(q, before, func(row audit.Row) bool {
		rows = append(rows, row)
		bytes += len(row.Text)
		more = len(rows) == limit || bytes > logBytes
		return !more
	})
	return rows, more, err
}

// take adds an entry to a page if it matches and the caller may read it.
func (q *logQuery) take(view *View, row audit.Row, page *LogPage) error {
	e, err := row.Decode()
	if err != nil {
		return err
	}
	if q.only != nil {
		e.Changes = slices.DeleteFunc(e.Changes, func(c audit.Change) bool { return !q.only(&c) })
		entry, err := view.render(&e, view.seesActor(&e.Actor), false)
		if err == nil {
			page.Data = append(page.Data, entry)
		}
		return err
	}

	entry, err := view.entry(&e, false)
	if err != nil || entry == nil {
		return err
	}
	if q.address.IsValid() {
		addr, err := netip.ParseAddr(entry.Address)
		if err != nil || !q.address.Contains(addr.Unmap().WithZone("")) {
			return nil
		}
	}

	page.Data = append(page.Data, entry)
	return nil
}
