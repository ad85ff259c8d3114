package ops

import (
	"net/netip"
	"slices"
	"time"

	"reeve/server/monitor"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// traceMinutes is the duration of a trace unless the request sets another.
const traceMinutes = 5

type traceIn struct {
	UserID  *store.ID `json:"user_id" names:"user,user" doc:"ID of the user whose requests are traced; 0 or absent for any"`
	IP      *string   `json:"ip" check:"max=45" doc:"Client address of the requests that are traced; empty or absent for any"`
	Route   *string   `json:"route" check:"max=200" doc:"Route of the requests that are traced, like /admin/list or PUT /admin/list/:id; empty or absent for any"`
	Minutes *int64    `json:"minutes" check:"min=1,max=15" doc:"Duration in minutes; 5 by default"`
}

func startTrace(req *web.Request, in *traceIn) (*monitor.Trace, error) {
	t := monitor.Trace{CreatedBy: req.Actor.Label(), Route: web.ValueOf(in.Route)}
	faults := errs.Faults{}
	if in.UserID != nil {
		t.UserID = *in.UserID
	}
	if in.IP != nil && *in.IP != "" {
		addr, err := netip.ParseAddr(*in.IP)
		if err != nil {
			faults.Add("ip", "must be an IP address, such as 192.0.2.7")
		}
		t.IP = addr.Unmap().String()
	}
	if err := req.DB.View(req.Actor, func(tx *store.Tx) error {
		return requireTraced(tx, &t, faults)
	}); err != nil {
		return nil, err
	}
	if t.Route != "" && !slices.ContainsFunc(req.Server.Routes, func(rt web.Route) bool {
		return !rt.Unmonitored && rt.Monitored().IsCalled(t.Route)
	}) {
		faults.Add("route", "unknown or unmonitored route; write it like /admin/list/:id")
	}
	if t.UserID == 0 && len(faults) == 0 {
		if caller, err := req.Audience(); err != nil {
			return nil, err
		} else if !caller.SeesAll() {
			faults.Add("user_id",
				"is required, because your data scope is limited; choose a user in it")
		} else if t.IP == "" && t.Route == "" {
			faults.Add("user_id", "a user, a client address or a route is required")
		}
	}
	if err := faults.Err(errs.Invalid); err != nil {
		return nil, err
	}

	minutes := time.Duration(traceMinutes)
	if in.Minutes != nil {
		minutes = time.Duration(*in.Minutes)
	}

	return req.Server.Monitor.StartTrace(t, minutes*time.Minute)
}

// requireTraced sets the name of the traced user, and requires that the user exists and is
// in the caller's data scope.
func requireTraced(tx *store.Tx, t *monitor.Trace, faults errs.Faults) (err error) {
	if t.UserID == 0 {
		return nil
	}
	t.Username, err = tracedName(tx, t.UserID)
	if err == nil && t.Username == "" {
		faults.Add("user_id", "%s %d not found", errs.Noun("user"), t.UserID)
	}
	return err
}

// tracedName returns the name of a user, "" if there is none in the caller's data scope.
func tracedName(tx *store.Tx, id store.ID) (username string, err error) {
	u, err := store.Users.Get(tx, id)
	if errs.Is(err, errs.NotFound) || err == nil && !store.ActorOf(tx).Scope(tx).HasUser(u) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return u.Username, nil
}

// TraceList is the response with the running traces and those that ended last.
type TraceList struct {
	Node string          `json:"node" doc:"Name of the node that answers, which records the requests; empty for a server that is the only one"`
	Data []monitor.Trace `json:"data"`
}

func listTraces(tx *store.Tx, req *web.Request, _ *web.TreeIn) (*TraceList, error) {
	out := &TraceList{Node: req.Server.NodeName(), Data: []monitor.Trace{}}
	all := req.Actor.Scope(tx).All
	for _, t := range req.Server.Monitor.Traces() {
		if t.UserID != 0 {
			var err error
			if t.Username, err = tracedName(tx, t.UserID); err != nil {
				return nil, err
			}
		}
		if t.Username == "" && !all {
			continue
		}
		out.Data = append(out.Data, t)
	}

	return out, nil
}

func stopTrace(req *web.Request, in *web.ByID) (web.Nothing, error) {
	return stopTraces(req, &web.ByIDs{IDs: []store.ID{in.ID}})
}

func stopTraces(req *web.Request, in *web.ByIDs) (web.Nothing, error) {
	caller, err := req.Audience()
	if err != nil {
		return web.Nothing{}, err
	}
	return web.Nothing{}, req.Server.Monitor.StopTraces(in.IDs, caller)
}
