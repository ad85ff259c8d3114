package settings

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"reeve/server/changes"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

const (
	flagStreamPath = "/ofrep/v1/events"

	// flagLinkStep is half the longest life of a signed URL of a stream. The end of its life is a
	// multiple of it, so that the URL, and the ETag of the response with it, seldom change.
	flagLinkStep = 12 * time.Hour

	// flagPause is the shortest time between two events of a stream: many changes are one event.
	flagPause = time.Second

	// flagIdle is the time after which a client that is not used should close the stream, as by
	// default in the protocol.
	flagIdle = 2 * time.Minute
)

// FlagStreams tell OpenFeature clients when to evaluate their flags again.
type FlagStreams struct {
	streams *changes.Streams
	named   *NamedUsers
	links   *web.LinkSigner
	key     []byte // key of the states, which thus disclose nothing of the rules
}

func NewFlagStreams(db *store.DB, streams *changes.Streams, named *NamedUsers) *FlagStreams {
	return &FlagStreams{streams, named, web.NewLinkSigner(db, "flag streams"), db.TemporaryKey("states of flags")}
}

// hash returns a hash of the parts of a state.
func (fs *FlagStreams) hash() hash.Hash { return hmac.New(sha256.New, fs.key) }

// route is the stream of the protocol.
func (fs *FlagStreams) route() web.Route {
	return web.Raw(flagStreamPath, web.AnyRealm, "Stream flag changes", changes.EventStream,
		fs.serve, web.Options{
			Unmonitored: true,
			Note: "OpenFeature Remote Evaluation Protocol: Server-Sent Events. Each has the data " +
				`{"type":"refetchEvaluation"} ` + "and no more: flags that you may evaluate may give " +
				"other values, so evaluate them again. There is at most one in a second. The stream " +
				"begins with one, unless the header Last-Event-ID has the current state. Use the URL " +
				"that evaluateFlags returns in eventStreams, or send your token.",
		})
}

type flagEventStream struct {
	Type       string       `json:"type" doc:"sse: Server-Sent Events"`
	Endpoint   flagEndpoint `json:"endpoint"`
	Inactivity int64        `json:"inactivityDelaySec" doc:"Seconds after which a client that is not used should close the stream, and evaluate again when it opens it"`
}

// flagEndpoint has no origin: the client takes that of the protocol.
type flagEndpoint struct {
	RequestURI string `json:"requestUri" doc:"Path and query of the stream, at the origin of this request. With a token, it is signed: it needs no token, ends with the session or key and after at most 24 hours, and must be kept secret"`
}

// streamOf returns the stream for the caller. Its URL is signed for a session or key, since
// browsers can send no headers when they open a stream. Impersonation needs its header there, too.
func (fs *FlagStreams) streamOf(req *web.Request, tx *store.Tx) []flagEventStream {
	path := flagStreamPath
	if req.Session != nil && req.Actor.By == nil {
		in := flagStreamIn{
			Session: req.Session.ID,
			Expires: strconv.FormatInt((int64(tx.Now())/flagLinkStep.Microseconds()+2)*flagLinkStep.Microseconds(), 10),
		}
		path += "?" + url.Values{
			"session":   {in.Session.String()},
			"expires":   {in.Expires},
			"signature": {fs.links.Sign(in.texts(req.Session.Actor)...)},
		}.Encode()
	}
	return []flagEventStream{{
		"sse", flagEndpoint{req.Server.URL(path)}, int64(flagIdle / time.Second)}}
}

type flagStreamIn struct {
	Session   store.ID `query:"session" doc:"Part of a signed URL"`
	Expires   string   `query:"expires" check:"max=20" doc:"Part of a signed URL"`
	Signature string   `query:"signature" check:"max=100" doc:"Part of a signed URL"`
}

// texts returns the signed texts of a URL: for whom, until when.
func (in *flagStreamIn) texts(who *store.Actor) []string {
	return []string{"flags", who.Account().Subject(), in.Session.String(), in.Expires}
}

// serve tells the caller of changes until the client, the session or the signed URL ends.
func (fs *FlagStreams) serve(req *web.Request, in *flagStreamIn, w http.ResponseWriter) error {
	feed := &flagFeed{all: fs, req: req, until: math.MaxInt64}
	if *in != (flagStreamIn{}) {
		err := req.Server.DB.View(store.Anonymous, func(tx *store.Tx) (err error) {
			feed.until, err = fs.enter(req, tx, in)
			return err
		})
		if err != nil {
			return err
		}
	}
	return fs.streams.Serve(req, feed, w)
}

var errFlagLink = errs.New(errs.Unauthenticated, "invalid or expired link; request a new one").Coded("link_expired")

// enter makes the request one of the session or key of a signed URL, and returns until when.
func (fs *FlagStreams) enter(req *web.Request, tx *store.Tx, in *flagStreamIn) (store.Time, error) {
	session, err := req.Server.Auth.SessionByID(tx, in.Session)
	if errs.Is(err, errs.Unauthenticated) {
		return 0, errFlagLink
	}
	if err != nil {
		return 0, err
	}
	until, err := strconv.ParseInt(in.Expires, 10, 64)
	if err != nil || !fs.links.Signed(in.Signature, in.texts(session.Actor)...) {
		return 0, errFlagLink
	}
	return store.Time(until), req.EnterSession(tx, session)
}

// flagFeed is the feed of an event stream about flags. It has no log: it compares states of the flags
// that the caller may evaluate, so that a client that was away gets one event at most.
type flagFeed struct {
	all   *FlagStreams
	req   *web.Request
	until store.Time // end of the signed URL
	out   *bytes.Buffer
	state string    // state that the client knows
	sent  time.Time // time of the last event
	owed  bool      // whether an event must follow, even if the state becomes the known one again

	now   string     // current state
	flags uint64     // state without the users that a key has named
	of    flagBasis  // data from which it was computed
	next  store.Time // time at which it may change without new data
}

// flagBasis is what a state depends on, besides the time.
type flagBasis struct {
	settings *store.SettingSet
	policy   *store.Policy
	apps     *store.Policy
	fields   *store.CustomFieldSet
	actor    *store.Actor
}

// Begin tells a client whose state is another one, or that has none and so may have missed a
// change since it evaluated its flags.
func (f *flagFeed) Begin(out *bytes.Buffer) error {
	f.out = out
	if err := f.look(); err != nil {
		return err
	}
	if f.state = f.now; changes.LastEventID(f.req) == f.state {
		f.out.WriteString("id: " + f.state + "\n\n")
		return nil
	}
	return f.tell()
}

// Next tells the client if the state has changed, once the last event is long enough ago.
func (f *flagFeed) Next() (<-chan struct{}, error) {
	woken := f.all.streams.Wake()
	err := f.look()
	f.owed = f.owed || f.now != f.state
	if err != nil || !f.owed {
		return woken, err
	}
	if early := time.Until(f.sent.Add(flagPause)); early > 0 {
		over := make(chan struct{})
		time.AfterFunc(early, func() { close(over) })
		return over, nil
	}
	return woken, f.tell()
}

// ID returns the state that the client knows.
func (f *flagFeed) ID() string { return f.state }

func (f *flagFeed) tell() error {
	f.state, f.sent, f.owed = f.now, time.Now(), false
	text, err := changes.Frame(f.state, "message", map[string]string{"type": "refetchEvaluation"})
	f.out.Write(text)
	return err
}

// look authorizes the caller and finds the current state.
func (f *flagFeed) look() error {
	renewed := false
	err := f.req.Server.DB.View(store.Anonymous, func(tx *store.Tx) error {
		actor, err := f.req.Renew(tx)
		if err != nil {
			return err
		}
		if tx.Now() >= f.until {
			return errFlagLink
		}

		of := flagBasis{store.SettingCache.Get(tx), store.PolicyOf(tx, actor), store.AppPolicyCache.Get(tx),
			store.CustomFieldCache.Get(tx), actor}
		if renewed = of != f.of; !renewed && tx.Now() < f.next {
			return nil
		}
		f.of = of
		return f.compute(tx)
	})
	if err != nil {
		return err
	}

	state := f.flags
	if f.of.actor.Key != nil {
		n, err := f.all.named.changesOf(f.req.Server.DB, f.of.actor, renewed)
		if err != nil {
			return err
		}
		sum := f.all.hash()
		fmt.Fprintf(sum, "%d %d", state, n) // a hash never fails
		state = short(sum)
	}
	f.now = strconv.FormatUint(state, 36)
	return nil
}

// compute finds the state: the flags that the caller may evaluate, when they were changed, how many
// of their times have passed, and the user of a session. The users that a key has named are added later,
// see NamedUsers. A client may have evaluated a flag between
// two changes that cancel each other out, so that the value alone is not enough.
func (f *flagFeed) compute(tx *store.Tx) error {
	sum := f.all.hash()
	f.next = math.MaxInt64
	flags := f.of.settings.Flags()
	for i := range flags {
		if flag := &flags[i]; flag.MayEvaluate(tx, f.of.actor) {
			next, passed := flag.Times(tx.Now())
			f.next = min(f.next, next)
			fmt.Fprintf(sum, "%q %d %d %q\n", flag.Key, flag.At, passed, flag.Values)
		}
	}

	if f.of.actor.Key == nil && f.of.actor.ID != 0 {
		who, err := store.FlagSubject(tx, f.of.actor)
		if err != nil {
			return err
		}
		text, err := json.Marshal(who)
		if err != nil {
			return err
		}
		sum.Write(text)
	}

	f.flags = short(sum)
	return nil
}

// short returns the first 64 bits of a hash.
func short(sum hash.Hash) uint64 { return binary.BigEndian.Uint64(sum.Sum(nil)) }
