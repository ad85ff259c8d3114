// Package ops tells administrators and their programs about the server: health, system
// information, monitoring, backup, the manual, and the client libraries.
package ops

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"reeve/server/sdk"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

func HealthRoutes(o *Ops) []web.Route {
	return []web.Route{
		web.Action("GET", "/health", web.Public, "Check the server's health", o.health, web.Options{
			AlwaysServed: true,

			Note: "Returns 200 while the server can serve requests; for load balancers and supervisors.",
		}),
		web.Action("GET", "/health/live", web.Public, "Check that the server runs", live, web.Options{
			AlwaysServed: true,

			Note: "Returns 200 while the process answers. A supervisor restarts a server that does not; a " +
				"full disk or one that is being drained is no reason.",
		}),
		web.Action("GET", "/health/ready", web.Public, "Check that the server is ready", o.ready,
			web.Options{
				AlwaysServed: true,

				Note: "Returns 200 while the server answers requests and lets users sign in, and 503 when " +
					"it has begun to stop or writing has failed, or when it is one of several nodes and has " +
					"lost contact or not caught up. With write=1 also 503 while the disk is " +
					"full: then only sign-ins and deletions are possible.",
			}),
		web.Action("GET", "/system/health", "system.info", "Get the system's health",
			o.systemHealth, web.Options{
				Note: "Returns the state of each part of the server and the worst of them.",
			}),
		web.Action("POST", "/system/health/acknowledge", "system.info.acknowledge",
			"Acknowledge lost commits", o.acknowledgeLost, web.Options{
				Note: "Ends the warning that commits were lost, and returns the state of each part.",
			}),
	}
}

// Ops tells administrators and their programs about the server.
type Ops struct {
	Parts  []func() web.Part // components of /system/health
	Cached atomic.Pointer[cachedHealth]

	compaction compaction

	clients func() (*sdk.Files, error)                           // packed for the first request, not at start
	manual  map[string]func() (web.Encoded[manualAnswer], error) // rendered for the first request, not at start
}

func NewOps(s *web.Server) *Ops {
	return &Ops{
		compaction: compaction{
			start: make(chan struct{}, 1),
			state: compactionState{State: noCompaction, Files: []compactedFile{}},
		},
		clients: sync.OnceValues(func() (*sdk.Files, error) {
			return packClients(s.Config.Clients, s.Config.Version)
		}),
		manual: map[string]func() (web.Encoded[manualAnswer], error){
			errs.English.Tag(): manualIn(s, errs.English.Tag()),
			errs.Chinese.Tag(): manualIn(s, errs.Chinese.Tag()),
		},
	}
}

type healthOut struct {
	Status string `json:"status" doc:"Always ok; any other state is an error response"`
}

// HealthCacheTime is how long a result of /health is cached, so that a flood of
// requests costs nothing.
const HealthCacheTime = time.Second

type cachedHealth struct {
	At  time.Time
	err error
}

func (o *Ops) health(req *web.Request, _ *web.None) (*healthOut, error) {
	if err := req.Server.NotServing(); err != nil {
		return nil, err
	}
	now := time.Now()
	last := o.Cached.Load()
	if last == nil || now.Sub(last.At) >= HealthCacheTime {
		last = &cachedHealth{now, alive(req.Server)}
		o.Cached.Store(last)
	}
	if last.err != nil {
		return nil, last.err
	}
	return &healthOut{"ok"}, nil
}

// live answers as long as the process does.
func live(*web.Request, *web.None) (*healthOut, error) { return &healthOut{"ok"}, nil }

type readyIn struct {
	Write store.Flag `query:"write" doc:"1 to require that records can be written, too"`
}

func (o *Ops) ready(req *web.Request, in *readyIn) (*healthOut, error) {
	req.Server.Probed()
	switch {
	case req.Server.Draining():
		return nil, errs.New(errs.Busy, "the server is shutting down").Coded("not_ready")
	case bool(in.Write) && req.Server.DB.DiskLow():
		return nil, errs.New(errs.Busy, "the disk is full: until space is freed, you can only sign in and delete").Coded("not_ready")
	}
	if err := req.DB.View(store.System, func(tx *store.Tx) error {
		_, err := store.Roles.Get(tx, store.OwnerRole)
		return err
	}); err != nil {
		return nil, errs.New(errs.Busy, "%s", errs.Of(err)).Coded("not_ready")
	}
	return o.health(req, nil)
}

// alive returns an error once writing to data.db or files.db has stopped, which a
// restart can fix. A full disk is not an error: reads continue, and a restart frees no
// space. The error has no cause, which would be logged with every request.
func alive(s *web.Server) error {
	for _, err := range []error{s.DB.Healthy(), s.DB.FilesHealthy()} {
		if err != nil {
			return errs.New(errs.Busy, "%s", errs.Of(err)).Coded("not_healthy")
		}
	}
	return nil
}

type SystemHealthOut struct {
	State string     `json:"state" doc:"Worst state of all components"`
	Parts []web.Part `json:"parts" doc:"Components of the system"`
}

func (o *Ops) systemHealth(req *web.Request, _ *web.None) (*SystemHealthOut, error) {
	order := []string{web.Healthy, web.Checking, web.Degraded, web.Failed} // worst last
	out, language := &SystemHealthOut{State: web.Healthy}, req.Language()
	for _, look := range o.Parts {
		p := look()
		p.Text, p.Reason = p.Message.In(language), web.ReasonOf(p.Message)
		if slices.Index(order, p.State) > slices.Index(order, out.State) {
			out.State = p.State
		}
		out.Parts = append(out.Parts, p)
	}
	return out, nil
}

// acknowledgeLost clears the warning about lost commits.
func (o *Ops) acknowledgeLost(req *web.Request, in *web.None) (*SystemHealthOut, error) {
	if err := req.DB.AcknowledgeLostCommits(); err != nil {
		return nil, err
	}
	return o.systemHealth(req, in)
}
