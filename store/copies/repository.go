package copies

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"filippo.io/age"

	"reeve/store/blob"
	"reeve/store/kv"
	"reeve/store/seal"
)

// Options configure a Repository.
type Options struct {
	Recipients []age.Recipient
	Bandwidth  int64 // maximum of bytes sent a second; 0 for no limit
	Nodes      bool  // whether the server is one of several nodes
	NoDelete   bool  // whether nothing is deleted, because the target does that, or no one may
	// Erased returns the list of erasures, a line for each, with all that the newest snapshot has. Nil for none.
	Erased func() ([]byte, error)
}

// Repository is the copies of one installation at one target. Its methods are called one after
// another, except Ship and Continued, Settle, Pending and Ranges, which run beside them.
type Repository struct {
	target     Target
	options    Options
	db         *kv.DB
	instance   string
	server     seal.Key
	memory     *age.X25519Identity // identity that exists only in this process, for proofs
	recipients string              // hash of the recipients
	process    string              // beginning of the names of all starts of this process
	start      string              // beginning of the names of this start
	began      time.Time           // time of the start object, by the clock of the target
	opened     time.Time           // the same time, by the clock of this machine
	Overwrites bool                // whether the target replaces objects that exist
	limit      *Limiter            // rate of all that is sent
	before     time.Time           // time of the newest object that the first Scan has found, without those of this process; zero for none
	scanned    bool                // whether there was a Scan

	known   map[string]*Copy // copies as they were read, by name
	indexes map[string]index // indexes as they were read, by name
	lists   map[string]bool  // lists of erasures that were read, by name
	erased  erased           // lines of these
	damaged map[string]bool  // objects with contents that a proof has found to be damaged
	ship    shipping

	reading    map[string]readPart // parts of the commit stream that proofs have read, by name
	proveBytes int64               // see the constant
	compared   map[string]uint64   // last commit of each start that is known to be the one in the log here, see hasCommit
}

// Open prepares a target for the copies of a database, and tries whether it can store, list and
// delete, and whether it refuses to replace an object.
func Open(ctx context.Context, target Target, db *kv.DB, o Options) (*Repository, error) {
	if len(o.Recipients) == 0 {
		return nil, errors.New("copies need a recipient")
	}
	key, err := db.DerivedKey("copies")
	if err != nil {
		return nil, err
	}
	r := &Repository{target: target, options: o, db: db, instance: db.Instance(), limit: NewLimiter(o.Bandwidth), known: map[string]*Copy{}, indexes: map[string]index{}, lists: map[string]bool{}, damaged: map[string]bool{}, compared: map[string]uint64{}, reading: map[string]readPart{}, proveBytes: proveBytes}
	r.ship.objects, r.ship.whole, r.ship.pending = map[segment][]string{}, map[segment]bool{}, map[blob.Digest]segment{}
	r.ship.named, r.ship.unlisted = map[blob.Digest]storedContent{}, map[blob.Digest]bool{}
	if r.server, err = seal.NewKey(key, serverStanza, ""); err != nil {
		return nil, err
	}
	if r.memory, err = age.GenerateX25519Identity(); err != nil {
		return nil, err
	}
	r.recipients = hashOf(o.Recipients)
	r.process = fmt.Sprintf("%s/%s/%s-", r.instance, db.LogHead().Generation, db.Process())
	r.start = r.anotherStart()
	return r, r.begin(ctx)
}

// hashOf returns the beginning of a hash of recipients.
func hashOf(recipients []age.Recipient) string {
	var texts []string
	for _, r := range recipients {
		texts = append(texts, fmt.Sprint(r))
	}
	slices.Sort(texts)
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n")))
	return hex.EncodeToString(sum[:8])
}

// anotherStart returns a beginning of names that this process has not used.
func (r *Repository) anotherStart() string { return r.process + randomName() + "/" }

func randomName() string { return strings.ToLower(rand.Text()[:16]) }

// begin stores the start object, twice.
func (r *Repository) begin(ctx context.Context) error {
	name := r.start + startName
	if err := r.target.Put(ctx, name, 0, strings.NewReader("")); err != nil {
		return err
	}
	switch err := r.target.Put(ctx, name, 0, strings.NewReader("")); {
	case err == nil:
		r.Overwrites = true
	case !errors.Is(err, ErrExists):
		return err
	}
	all, err := r.target.List(ctx, name)
	if err != nil {
		return err
	}
	if len(all) != 1 {
		return errors.New("what was stored is not in the list of objects")
	}
	r.began, r.opened = all[0].Modified, time.Now()
	return nil
}

// Copy is a copy at the target.
type Copy struct {
	Name     string
	Time     time.Time
	Size     int64     // encrypted bytes of the records
	Manifest *Manifest // manifest without contents; nil if it was sealed with another secret.key, or is damaged
	Fault    error     // reason for no manifest; nil for another secret.key
	Files    int       // contents of files in the copy
	Proof    *Proof    // nil if it was not restored yet
	Own      bool      // whether this process has made it and can restore it
	Previous bool      // whether it was made before these data were restored, or by another server with them
}

// Scan is what a target has.
type Scan struct {
	Copies []*Copy // copies, newest first
	// Other is the time at which another server, which uses the same data, has begun to store or last
	// stored a copy since this one began; zero for none.
	Other time.Time

	objects  map[string]Object
	contents map[blob.Digest]storedContent // contents whose objects are there
	indexes  map[string][]storedContent
	parts    []part // parts of the commit stream, sorted
	left     string // epoch of this process that another one has continued; "" for none
	complete bool   // whether it is known what all copies name
}

// Scan lists the target and reads what it has not read before.
func (r *Repository) Scan(ctx context.Context) (*Scan, error) {
	r.ship.mu.Lock()
	maps.DeleteFunc(r.ship.named, func(d blob.Digest, _ storedContent) bool { return !r.ship.unlisted[d] })
	r.ship.had = append(r.ship.had, r.ship.added...)
	r.ship.added = nil
	r.ship.mu.Unlock()
	all, err := r.target.List(ctx, r.instance+"/")
	if err != nil {
		return nil, err
	}
	s := &Scan{
		objects:  make(map[string]Object, len(all)),
		contents: map[blob.Digest]storedContent{},
		indexes:  map[string][]storedContent{},
		complete: true,
	}
	for _, o := range all {
		s.objects[o.Name] = o
		if p, ok := partOf(o); ok {
			s.parts = append(s.parts, p)
		}
		if strings.HasPrefix(o.Name, r.process) {
			continue
		}
		if o.Modified.After(r.began) && o.Modified.After(s.Other) {
			s.Other = o.Modified
		}
		if !r.scanned && o.Modified.After(r.before) {
			r.before = o.Modified
		}
	}
	r.scanned = true
	var indexes []string
	for _, o := range all {
		switch name, suffix, ok := base(o.Name); {
		case ok && suffix == listSuffix:
			c, err := r.copyAt(ctx, s, name)
			if err != nil {
				return nil, err
			}
			s.Copies = append(s.Copies, c)
			s.complete = s.complete && c.Manifest != nil
		case strings.HasSuffix(o.Name, indexSuffix):
			indexes = append(indexes, o.Name)
		case ok && suffix == erasedSuffix, isList(o.Name):
			if err := r.readErased(ctx, o.Name); err != nil {
				return nil, err
			}
		}
	}
	if err := r.readIndexes(ctx, s, indexes); err != nil {
		return nil, err
	}
	sortCopies(s.Copies)
	sortParts(s.parts)
	if err := r.noteGone(ctx, s); err != nil {
		return nil, err
	}
	if s.left, err = r.leftEpoch(ctx, s.parts); err != nil {
		return nil, err
	}
	maps.DeleteFunc(r.indexes, func(name string, _ index) bool { return s.indexes[name] == nil })
	r.found(s)
	return s, nil
}

// found gives Ship what a Scan has found. Parts that were stored while it ran may not be in it.
func (r *Repository) found(s *Scan) {
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	r.ship.left = s.left
	parts := merge(slices.Concat(r.ship.sound(s.parts), r.ship.added))
	r.ship.parts, r.ship.copies, r.ship.contents = parts, s.Copies, s.contents
	r.ship.doomed = nil // they are not in the list
}

// copyAt returns a copy whose manifest is there.
func (r *Repository) copyAt(ctx context.Context, s *Scan, name string) (*Copy, error) {
	c := r.known[name]
	if c == nil || c.Manifest == nil && c.Fault != nil { // it may have been damaged on its way
		c = &Copy{Name: name, Own: strings.HasPrefix(name, r.start), Previous: generationOf(name) != generationOf(r.start)}
		c.Time, _ = timeOf(name)
		c.Size = s.objects[name+dataSuffix].Size
		m, err := r.manifest(ctx, name, r.server)
		switch {
		case err == nil:
			c.Files, m.Contents = len(m.Contents), nil
			c.Manifest = m
		case errors.Is(err, errOtherKey), errors.Is(err, errNewer):
		case isDamage(err):
			c.Fault = err
		default:
			return nil, err
		}
	}
	if _, there := s.objects[name+proofSuffix]; there && c.Proof == nil {
		var p Proof
		switch err := r.readJSON(ctx, name+proofSuffix, &p, r.server); {
		case err == nil:
			c.Proof = &p
		case !isDamage(err) && !errors.Is(err, errOtherKey):
			return nil, err
		}
	}
	if fault := c.incomplete(s.objects); fault != nil && c.Fault == nil { // others may be reading c
		c = &Copy{Name: c.Name, Time: c.Time, Files: c.Files, Own: c.Own, Previous: c.Previous, Fault: fault}
	}
	r.known[name] = c
	return c, nil
}

// incomplete returns an error if the records of a copy are missing or cut off.
func (c *Copy) incomplete(objects map[string]Object) error {
	data, there := objects[c.Name+dataSuffix]
	switch {
	case !there:
		return fmt.Errorf("its records, %s, are missing", c.Name+dataSuffix)
	case c.Manifest != nil && data.Size != c.Manifest.Data.Size:
		return fmt.Errorf("its records, %s, have another size than was stored", c.Name+dataSuffix)
	}
	return nil
}

// errNewer is wrapped by the error of a manifest with a format that this program does not know.
var errNewer = errors.New("it was made by a newer program")

// damage is an error of the content of an object, not of the target.
type damage struct{ error }

func isDamage(err error) bool {
	var d damage
	return errors.As(err, &d)
}

// readJSON reads an object of sealJSON. Its content can be damaged, see isDamage.
func (r *Repository) readJSON(ctx context.Context, name string, to any, identities ...age.Identity) error {
	return readJSON(ctx, r.target, name, to, identities)
}

func readJSON(ctx context.Context, target Target, name string, to any, identities []age.Identity) error {
	in, err := target.Get(ctx, name)
	if err != nil {
		return err
	}
	defer in.Close() // read only: nothing can be lost
	read := &seal.Reader{R: in}
	err = openJSON(read, identities, to)
	switch {
	case err == nil, errors.Is(err, errOtherKey):
		return err
	case read.Err != nil:
		return fmt.Errorf("read %s: %w", name, read.Err)
	}
	return damage{fmt.Errorf("%s: %w", name, err)}
}

// manifest reads the manifest of a copy.
func (r *Repository) manifest(ctx context.Context, name string, identities ...age.Identity) (*Manifest, error) {
	return readManifest(ctx, r.target, name, identities)
}

func readManifest(ctx context.Context, target Target, name string, identities []age.Identity) (*Manifest, error) {
	m := &Manifest{}
	if err := readJSON(ctx, target, name+listSuffix, m, identities); err != nil {
		return nil, err
	}
	if m.Format > formatNumber {
		return nil, fmt.Errorf("%s: %w, reeve %s", name, errNewer, m.Version)
	}
	if m.Data.Object != name+dataSuffix {
		return nil, damage{fmt.Errorf("%s is the manifest of another copy", name)}
	}
	return m, nil
}

// readIndexes reads indexes. What the newest one says of a content counts: one that was damaged was stored
// again.
func (r *Repository) readIndexes(ctx context.Context, s *Scan, names []string) error {
	sort.SliceStable(names, func(i, j int) bool { return s.objects[names[i]].Modified.Before(s.objects[names[j]].Modified) })
	for _, name := range names {
		if err := r.readIndex(ctx, s, name); err != nil {
			return err
		}
	}
	return nil
}

// readIndex adds the contents in an index whose objects are there. A damaged one, or one that was
// sealed with another secret.key, is as if it were not there: its contents are stored again. So are
// those for other recipients.
func (r *Repository) readIndex(ctx context.Context, s *Scan, name string) error {
	in, known := r.indexes[name]
	if !known {
		err := r.readJSON(ctx, name, &in, r.server)
		if isDamage(err) || errors.Is(err, errOtherKey) {
			return nil
		}
		if err != nil {
			return err
		}
		if in.Format > formatNumber {
			s.complete = false
			return nil
		}
		r.indexes[name] = in
	}
	s.indexes[name] = in.Contents
	if in.Recipients != r.recipients { // who can open the copies now may not open these contents
		return nil
	}
	for _, c := range in.Contents {
		if s.objects[c.Stored.Object].Size == c.Stored.Size && !r.damaged[c.Stored.Object] {
			s.contents[c.SHA256] = c
		}
	}
	return nil
}
