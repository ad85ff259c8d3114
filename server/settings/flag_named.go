package settings

import (
	"encoding/json"
	"hash/maphash"
	"slices"
	"sync"

	"reeve/store"
	"reeve/store/feature"
	"reeve/store/kv"
)

const (
	maxNamed     = 1000 // users that are remembered for an API key; another one replaces the oldest
	maxNamedKeys = 100  // API keys; another one replaces the one that was used least recently
)

// NamedUsers are the users whom API keys have named in contexts of evaluations, so that the streams of a
// key tell of changes of these users.
type NamedUsers struct {
	seed maphash.Seed

	mu        sync.Mutex
	keys      map[store.ID]*namedBy
	named     map[store.Account]int // number of keys that have named a user
	uses      uint64
	forgotten uint64 // number of keys that were replaced
}

// namedBy are the users whom a key has named.
type namedBy struct {
	comparing sync.Mutex // held while users are read; never wait for it in a transaction

	users   map[store.Account]uint64 // hash of the subject
	order   []store.Account          // users, the oldest first
	changed map[store.Account]bool   // users whose record may have changed
	changes uint64                   // number of changed subjects
	used    uint64
}

// NewNamedUsers returns the users that were named, none at first. Streams must be told of a commit
// after them, so call it before changes.NewStreams.
func NewNamedUsers(db *store.DB) *NamedUsers {
	n := &NamedUsers{
		seed:  maphash.MakeSeed(),
		keys:  map[store.ID]*namedBy{},
		named: map[store.Account]int{},
	}
	db.OnCommit(n.mark)
	return n
}

// mark notes which named users a commit has changed.
func (n *NamedUsers) mark(c kv.Changes) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.named) == 0 {
		return
	}
	for _, app := range []bool{false, true} {
		table := kv.Table(store.Users)
		if app {
			table = store.AppUsers
		}
		for id := range c.Of(table) {
			who := store.Account{ID: id, App: app}
			if n.named[who] == 0 {
				continue
			}
			for _, k := range n.keys {
				if _, named := k.users[who]; named {
					k.changed[who] = true
				}
			}
		}
	}
}

// mention is a user whom a key has named, as the flags were evaluated. The zero value is none.
type mention struct {
	who  store.Account
	hash uint64
}

// mentionOf returns a mention of a user; subject is nil if the key has no such user in its data scope.
func (n *NamedUsers) mentionOf(who store.Account, subject *feature.Subject) (mention, error) {
	if subject == nil {
		return mention{who: who}, nil
	}
	text, err := json.Marshal(subject)
	return mention{who, maphash.Bytes(n.seed, text)}, err
}

// note remembers that a key has named a user. The record may have changed since it was read, so that it
// is compared once more.
func (n *NamedUsers) note(key store.ID, m mention) {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := n.keys[key]
	if k == nil {
		n.forget()
		k = &namedBy{users: map[store.Account]uint64{}, changed: map[store.Account]bool{}, changes: n.forgotten}
		n.keys[key] = k
	}
	n.uses++
	k.used = n.uses

	hash, known := k.users[m.who]
	switch {
	case !known:
		if len(k.order) == maxNamed {
			n.drop(k, k.order[0])
			k.order = k.order[1:]
		}
		k.order = append(k.order, m.who)
		n.named[m.who]++
	case hash == m.hash:
		return
	default:
		k.changes++ // another client of the key may not know it
	}
	k.users[m.who], k.changed[m.who] = m.hash, true
}

// drop forgets a user of a key.
func (n *NamedUsers) drop(k *namedBy, who store.Account) {
	delete(k.users, who)
	delete(k.changed, who)
	if n.named[who]--; n.named[who] == 0 {
		delete(n.named, who)
	}
}

// forget makes room for a key. The streams of the forgotten one get an event, since changes are no
// longer noticed until it names its users again.
func (n *NamedUsers) forget() {
	if len(n.keys) < maxNamedKeys {
		return
	}
	var oldest store.ID
	for id, k := range n.keys {
		if oldest == 0 || k.used < n.keys[oldest].used {
			oldest = id
		}
	}
	for _, who := range n.keys[oldest].order {
		n.drop(n.keys[oldest], who)
	}
	delete(n.keys, oldest)
	n.forgotten++
}

// take returns the users of a key that may have changed, or all of them, and forgets that they may.
func (n *NamedUsers) take(k *namedBy, all bool) (list []store.Account) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if all {
		list = slices.Clone(k.order)
	} else {
		for who := range k.changed {
			list = append(list, who)
		}
	}
	clear(k.changed)
	return list
}

// changesOf returns a number that is another one after a user whom a key has named has changed. all
// compares every user, since roles, departments or the data scope of the key may have changed. It must not
// be called in a transaction.
func (n *NamedUsers) changesOf(db *store.DB, actor *store.Actor, all bool) (uint64, error) {
	n.mu.Lock()
	k, forgotten := n.keys[actor.Key.ID], n.forgotten
	n.mu.Unlock()
	if k == nil {
		return forgotten, nil
	}

	k.comparing.Lock()
	defer k.comparing.Unlock()
	list := n.take(k, all)
	now := make([]mention, len(list))
	err := db.View(actor, func(tx *store.Tx) error {
		for i, who := range list {
			subject, err := store.KnownSubject(tx, who)
			if err == nil {
				now[i], err = n.mentionOf(who, subject)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, who := range list {
		hash, known := k.users[who]
		switch {
		case !known: // replaced since
		case err != nil:
			k.changed[who] = true
		case hash != now[i].hash:
			k.users[who] = now[i].hash
			k.changes++
		}
	}
	return k.changes, err
}
