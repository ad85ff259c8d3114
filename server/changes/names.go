package changes

import (
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/fold"
	"reeve/store/kv"
)

const (
	maxNamed   = 100   // records of one collection that a search text finds
	maxDeleted = 2_000 // deletions that are searched for names
)

// findNames adds the condition that an entry is by or about a person or a record with a text in its
// name. Names in the log are sealed, so it finds the records first: present ones by their
// search texts, deleted ones by the names in the newest deletions.
func (q *logQuery) findNames(req *web.Request, text string) error {
	if text == "" {
		return nil
	}

	var terms []string
	var deletions []string
	err := req.DB.View(req.Actor, func(tx *store.Tx) error {
		for name, subject := range store.Accesses() {
			if !req.Actor.HasPermission(tx, subject.Query) {
				continue
			}
			deletions = append(deletions, audit.ByChange(name, "delete"))
			ids, err := recordsNamed(tx, req, subject.Table, text)
			tx.NoteDamage(err)
			if noteDamage(&q.damaged, &err); err != nil {
				return err
			}
			for _, id := range ids {
				terms = append(terms, namedTerms(name, uint64(id))...)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}

	rows, _, err := search(req, audit.Query{All: [][]string{deletions}}, 0, maxDeleted)
	if noteDamage(&q.damaged, &err); err != nil {
		return err
	}

	err = req.DB.View(req.Actor, func(tx *store.Tx) error {
		view := NewView(tx, req.Actor)
		for _, row := range rows {
			found, err := view.deletedNamed(row, text)
			if err != nil {
				return err
			}
			terms = append(terms, found...)
		}
		return nil
	})

	q.All, q.none = append(q.All, terms), q.none || terms == nil
	return err
}

// namedTerms returns the terms of entries that are about a record or, if it is a user, by it.
func namedTerms(collection string, id uint64) []string {
	terms := []string{audit.ByRecord(collection, id)}
	if collection == store.Users.Name() || collection == store.AppUsers.Name() {
		terms = append(terms, audit.ByActor(collection, id))
	}
	return terms
}

// deletedNamed returns the terms of the records with a text in their names that an entry deletes.
func (v *View) deletedNamed(row audit.Row, text string) (terms []string, err error) {
	e, err := row.Decode()
	if err != nil {
		return nil, err
	}

	for i := range e.Changes {
		c := &e.Changes[i]
		if c.Operation != "delete" || !v.seesChange(c) {
			continue
		}
		name, _, err := v.text(c.Name)
		if err != nil {
			return nil, err
		}
		if strings.Contains(fold.Search(name), text) {
			terms = append(terms, namedTerms(c.Collection, c.ID)...)
		}
	}

	return terms, nil
}

// recordsNamed returns records of a collection with a text in their names that the caller may read.
func recordsNamed(tx *store.Tx, req *web.Request, table kv.Table, text string) ([]store.ID, error) {
	if found, listed, err := req.FindNamed(tx, table.Name(), text, maxNamed); listed {
		return found, err
	}
	switch table {
	case kv.Table(store.Permissions):
		return scanNames(tx, store.Permissions, func(p *store.Permission) (store.ID, string) {
			return p.ID, p.Name + " " + p.Key
		}, text)
	case kv.Table(store.Depts):
		scope := req.Actor.Scope(tx)
		return scanNames(tx, store.Depts, func(d *store.Dept) (store.ID, string) {
			if !scope.HasDept(d.ID) {
				return 0, ""
			}
			return d.ID, d.Name
		}, text)
	case kv.Table(store.SettingGroups):
		return scanNames(tx, store.SettingGroups, func(g *store.SettingGroup) (store.ID, string) {
			return g.ID, g.Key + " " + g.Title
		}, text)
	case kv.Table(store.Settings):
		return scanNames(tx, store.Settings, func(s *store.Setting) (store.ID, string) {
			return s.ID, s.Key + " " + s.Title
		}, text)
	case kv.Table(store.Dicts):
		return scanNames(tx, store.Dicts, func(d *store.Dict) (store.ID, string) {
			return d.ID, d.Code + " " + d.Name
		}, text)
	case kv.Table(store.FileGroups):
		return scanNames(tx, store.FileGroups, func(g *store.FileGroup) (store.ID, string) {
			return g.ID, g.Name
		}, text)
	}
	return nil, nil
}

// scanNames finds records of a small collection by looking at all of them. If some are damaged, it
// returns the others and the damage of one.
func scanNames[T any](tx *store.Tx, of *kv.Collection[T], name func(*T) (store.ID, string),
	text string) (ids []store.ID, damage error) {
	for v, err := range of.All(tx) {
		if store.IsDamage(err) {
			damage = err
			continue
		}
		if err != nil {
			return nil, err
		}
		id, title := name(v)
		if id != 0 && strings.Contains(fold.Search(title), text) {
			ids = append(ids, id)
		}
		if len(ids) == maxNamed {
			break
		}
	}
	return ids, damage
}
