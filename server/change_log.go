package server

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

const (
	reasonHeader = "X-Reason"
	maxReason    = 200 // characters

	headEvery = time.Hour // interval of the program's log lines with the head of the change log
)

// logged declares that every use of a route is logged as an action, also if it changes nothing.
func logged(action string, rt Route) Route {
	rt.logs = action
	return rt
}

// changes reports whether a route writes to the store.
func (rt *Route) changes() bool { return rt.Method != http.MethodGet && !rt.reads || rt.logs != "" }

// setOrigin sets what the change log says about the writes of the request.
func (req *Request) setOrigin(rt *Route) {
	req.origin = store.Origin{
		Operation: audit.Operation{Method: rt.Method, Route: rt.Path, Title: rt.Title},
		RequestID: req.ID, Address: req.Addr,
	}
}

// readReason reads the reason that a client gives for a change. Characters that a header cannot have
// are percent-encoded.
func (req *Request) readReason() error {
	values := req.http.Header[reasonHeader]
	if len(values) == 0 {
		return nil
	}
	text, err := url.PathUnescape(strings.TrimSpace(values[0]))
	if err != nil {
		text = strings.TrimSpace(values[0])
	}
	switch {
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return errs.Field(errs.Malformed, reasonHeader, "must be text in UTF-8, percent-encoded where needed")
	case utf8.RuneCountInString(text) > maxReason:
		return errs.Field(errs.Malformed, reasonHeader, "must have at most %d characters", maxReason)
	}
	req.origin.Reason = text
	return nil
}

// logUse logs the use of a route that is declared as logged. The route is not run if this fails, except for
// want of space: a full disk must not prevent a backup. The program's log has the use then.
func (req *Request) logUse(rt *Route) error {
	details := map[string]string{}
	for _, p := range req.params {
		details[p.Key] = p.Value
	}
	err := req.db.Essential().Update(req.Actor, func(tx *store.Tx) error {
		tx.LogAction(rt.logs, details)
		return nil
	})
	if errs.Is(err, errs.Full) {
		req.s.log.Warn().Str("request", req.ID).Str("operation", rt.name()).Str("user", req.Actor.Username).Stringer("address", req.Addr).
			Msg("the disk is full: this operation is not in the change log")
		return nil
	}
	return err
}

// entryHeader names the entry of a write in the change log, for a client that offers to undo it.
const entryHeader = "Reeve-Entry"

// nameEntry sets the header of a response to a write that has an entry.
func (req *Request) nameEntry() {
	if req.entry.Seq != 0 {
		req.w.Header()[entryHeader] = []string{eventID(req.entry.Generation, req.entry.Seq)}
	}
}

// eventID identifies an entry for ever, also after a restore.
func eventID(generation string, seq uint64) string {
	return generation + "-" + strconv.FormatUint(seq, 10)
}

// denial identifies what is counted together: refused requests of one user, or failed sign-ins from
// one network, for one operation.
type denial struct {
	user    store.Account
	as      store.ID        // user as whom the user acted; 0 for nobody
	key     *store.KeyLimit // nil for none; the same for all requests of an API key until it changes
	network string
	route   *Route
}

const (
	denialEvery = time.Minute
	maxDenials  = 50 // entries of one minute; further users and networks are counted together
)

// denials counts refused requests and failed sign-ins of known users, for one entry a minute each.
type denials struct {
	mu     sync.Mutex
	counts map[denial]int
	others int // beyond maxDenials
}

func (d *denials) add(of denial) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.counts == nil {
		d.counts = map[denial]int{}
	}
	if _, known := d.counts[of]; !known && len(d.counts) == maxDenials {
		d.others++
		return
	}
	d.counts[of]++
}

func (d *denials) take() (counts map[denial]int, others int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	counts, others = d.counts, d.others
	d.counts, d.others = nil, 0
	return counts, others
}

// countDenial counts a request that was refused for lack of a permission.
func (s *Server) countDenial(req *Request) {
	if req.w.status == http.StatusForbidden && req.Actor.ID != 0 && req.route != nil {
		d := denial{user: store.Account{App: req.Actor.App, ID: req.Actor.Person().ID}, key: req.Actor.Key, route: req.route}
		if req.Actor.By != nil {
			d.as = req.Actor.ID
		}
		s.denials.add(d)
	}
}

// failedSignIn counts a failed sign-in of a known user.
func (s *Server) failedSignIn(req *Request) func() {
	return func() { s.denials.add(denial{network: store.NetworkOf(req.Addr).String(), route: req.route}) }
}

// logDenials writes an entry for each user and network that was refused since the last call, while
// such entries are within their share of the space.
func (s *Server) logDenials() error {
	counts, others := s.denials.take()
	if len(counts) == 0 || !s.db.RoomForDenials() {
		return nil
	}
	write := func(origin store.Origin, details map[string]any) error {
		return s.db.WithRecorder(nil).For("denials", nil).From(&origin).Update(store.System, func(tx *store.Tx) error {
			tx.LogAction(audit.Denied, details)
			return nil
		})
	}
	for d, n := range counts {
		origin := store.Origin{User: d.user, As: d.as, Key: d.key, Operation: audit.Operation{Method: d.route.Method, Route: d.route.Path, Title: d.route.Title}}
		details := map[string]any{"count": n}
		if d.network != "" {
			origin.Kind, details["network"] = "anonymous", d.network
		}
		if err := write(origin, details); err != nil {
			return err
		}
	}
	if others == 0 {
		return nil
	}
	return write(store.Origin{Kind: "anonymous", Operation: audit.Operation{Title: "Other operations"}}, map[string]any{"count": others})
}

// keepChangeLog logs denials each minute, and the head of the change log each hour: a copy of the
// program's log elsewhere then shows whether entries were replaced.
func (s *Server) keepChangeLog(ctx context.Context) {
	minute, hour := time.NewTicker(denialEvery), time.NewTicker(headEvery)
	defer minute.Stop()
	defer hour.Stop()
	for {
		select {
		case <-ctx.Done():
			s.reportLog("denials", s.logDenials())
			s.reportLog("reads of secrets", s.reads.end(math.MaxInt64))
			return
		case <-minute.C:
			s.reportLog("denials", s.logDenials())
			s.reportLog("reads of secrets", s.reads.end(store.TimeOf(time.Now())))
		case <-hour.C:
			s.logHead()
		}
	}
}

func (s *Server) reportLog(what string, err error) {
	if err != nil && !errs.Is(err, errs.Busy) {
		s.log.Error().Err(err).Msg(what + " could not be added to the change log")
	}
}

func (s *Server) logHead() {
	head := s.db.LogHead()
	s.log.Info().Msgf("head of the change log: %s:%d:%s", head.Generation, head.Seq, head.Hash)
}

// logStart adds the version and the effective configuration to the change log.
func (s *Server) logStart() error {
	config := map[string]string{}
	for _, v := range s.config.Effective {
		if v.Source != "default" {
			config[v.Key] = v.Value
		}
	}
	return s.db.WithRecorder(nil).For("start", nil).Update(store.System, func(tx *store.Tx) error {
		tx.LogAction("start", map[string]any{"version": s.config.Version, "config": config})
		return nil
	})
}

// changeLogHealth reports whether entries of the change log can be moved to segments and dropped.
func (s *Server) changeLogHealth() part {
	entries := int64(s.db.LogHead().Seq)
	figures := map[string]int64{"entries": entries}
	if found := s.db.FoundDamage().Log; len(found) > 0 {
		figures["damaged"] = int64(len(found))
		return part{Name: "change_log", State: degraded, message: errs.Say("parts of the change log are damaged (%d found): %s; everything else can be read; keep the file as evidence, and restore a backup to get the entries back", len(found), found[0]), Figures: figures}
	}
	if problem := s.db.LogProblem(); problem != "" {
		return part{Name: "change_log", State: degraded, message: errs.Say("entries cannot be moved or dropped: %s", problem), Figures: figures}
	}
	return part{Name: "change_log", State: healthy, message: errs.Say("%d entries", entries), Figures: figures}
}
