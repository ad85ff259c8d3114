package ops

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// CompactRoutes returns the operations that compact the database files.
func CompactRoutes(o *Ops) []web.Route {
	return []web.Route{
		web.Action("GET", "/system/compact", "system.compact", "Get the compaction", o.readCompaction, web.Options{
			Note: "Returns the state of the running compaction, or the result of the last one since the " +
				"start.",
		}),
		web.Action("POST", "/system/compact", "system.compact", "Compact the database files", o.beginCompaction,
			web.Options{
				Note: "Starts to rewrite both database files without their free pages, which returns the " +
					"space to the disk, and returns at once. Requests continue to be served. Writes wait " +
					"for a moment while a file is replaced. The disk needs room for a copy of the larger " +
					"file.",
			}),
	}
}

// States of a compaction.
const (
	noCompaction      = "none"
	compactionRunning = "running"
	compactionDone    = "done"
	compactionFailed  = "failed"
)

// compaction is the compaction of the database files, which runs in the background.
type compaction struct {
	start chan struct{} // holds a value while a compaction is to begin
	mu    sync.Mutex
	state compactionState
	fault errs.Message // reason of a failure
}

type compactionState struct {
	State     string          `json:"state" doc:"none since the start of the server, running, done or failed"`
	Done      int64           `json:"done_bytes" doc:"Bytes that were copied; the copies are verified afterwards"`
	Total     int64           `json:"total_bytes" doc:"Bytes to copy; 0 while unknown"`
	StartedAt store.Time      `json:"started_at" null:"true" doc:"null for none"`
	EndedAt   store.Time      `json:"ended_at" null:"true" doc:"null while it is running, and for none"`
	Files     []compactedFile `json:"files" doc:"Files that were compacted"`
	Error     string          `json:"error" doc:"Reason of the failure; empty for none. Files that are not in files are unchanged"`
}

type compactedFile struct {
	Name   string `json:"name"`
	Before int64  `json:"before_bytes" doc:"Size before the compaction"`
	After  int64  `json:"after_bytes" doc:"Size after the compaction"`
	Paused int64  `json:"paused_ms" doc:"Time for which writes waited, in milliseconds"`
}

func (o *Ops) readCompaction(req *web.Request, _ *web.None) (*compactionState, error) {
	c := &o.compaction
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.state
	out.Error = c.fault.In(req.Language())
	return &out, nil
}

func (o *Ops) beginCompaction(req *web.Request, _ *web.None) (*compactionState, error) {
	c := &o.compaction
	c.mu.Lock()
	running := c.state.State == compactionRunning
	if !running {
		c.state = compactionState{
			State:     compactionRunning,
			StartedAt: kv.TimeOf(time.Now()),
			Files:     []compactedFile{},
		}
		c.fault = errs.Message{}
		c.start <- struct{}{} // there is room: none was running
	}
	out := c.state
	c.mu.Unlock()
	if running {
		return nil, errs.New(errs.Conflict, "a compaction is already running")
	}
	req.Server.Log.Info().Str("user", req.Actor.Username).Msg("the database files are being compacted")
	return &out, nil
}

// KeepCompact compacts the database files when that is asked for, until ctx ends.
func (o *Ops) KeepCompact(s *web.Server, ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.compaction.start:
			o.compaction.run(s, ctx)
		}
	}
}

// run compacts the files once.
func (c *compaction) run(s *web.Server, ctx context.Context) {
	files, err := s.DB.Compact(ctx, func(done, total int64) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.state.Done, c.state.Total = done, total
	})
	for _, f := range files {
		s.Log.Info().Str("file", f.Name).Int64("before_bytes", f.Before).Int64("after_bytes", f.After).
			Dur("paused", f.Paused).Msg("a database file was compacted")
	}
	if err != nil {
		s.Log.Warn().Err(errs.ForOperator(err)).Msg("the compaction has failed")
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range files {
		c.state.Files = append(c.state.Files,
			compactedFile{f.Name, f.Before, f.After, f.Paused.Milliseconds()})
	}
	c.state.EndedAt, c.state.State = kv.TimeOf(time.Now()), compactionDone
	if err != nil {
		c.state.State, c.fault = compactionFailed, faultOf(err)
	}
}

// faultOf returns the reason of a failed compaction for its user.
func faultOf(err error) errs.Message {
	if known := (*errs.Error)(nil); errors.As(err, &known) && known.Kind != errs.Internal {
		return known.Msg
	}
	text, _, _ := strings.Cut(errs.ForOperator(err).Error(), "\n")
	return errs.Say("the file is unchanged: %s", text)
}
