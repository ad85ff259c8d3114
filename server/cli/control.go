package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"reeve/auth"
	"reeve/server"
	"reeve/server/config"
	"reeve/server/local"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// Besides the API, commands use a few operations of the program itself, below /local. They exist
// only for commands, which are of the same version as the server or nearly so, and may change.

// status is what the server tells commands about itself.
type status struct {
	Version  string    `json:"version"`
	Commit   string    `json:"build"`
	PID      int       `json:"pid"`
	Data     string    `json:"data"`
	Listen   string    `json:"listen"` // "" for a server in the process of the command
	Started  time.Time `json:"started"`
	LogLevel string    `json:"log_level"`
	Draining bool      `json:"draining"`
	Verified int64     `json:"verified"` // bytes that the latest verification has read
}

// reloaded is the result of a reload.
type reloaded struct {
	Changed      []string `json:"changed"`
	NeedsRestart []string `json:"needs_restart"`
	Warnings     []string `json:"warnings"`
}

// recovered is the result of the recovery of an owner.
type recovered struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// listenForCommands serves commands on the socket in the data directory until stop is called.
func (p *program) listenForCommands(s *server.Server) (stop func(), err error) {
	l, err := local.Listen(s.DB.Dir())
	if err != nil {
		return nil, err
	}
	return p.serveCommands(s, l), nil
}

// serveCommands serves commands until stop is called, which lets them finish.
func (p *program) serveCommands(s *server.Server, l net.Listener) (stop func()) {
	mux := http.NewServeMux()
	mux.Handle("/", s.Handler())
	operation(mux, "GET /local/status", func(*http.Request) (any, error) { return p.status(s), nil })
	operation(mux, "GET /local/requests", func(*http.Request) (any, error) { return p.load(s), nil })
	if p.node != nil {
		operation(mux, "GET /local/node", func(r *http.Request) (any, error) {
			state, _ := p.node.State(r.Context()) // the command finds the error itself
			return state, nil
		})
	}
	operation(mux, "POST /local/reload", func(*http.Request) (any, error) { return p.reload(s) })
	operation(mux, "PUT /local/log-level", func(r *http.Request) (any, error) {
		return p.setLogLevel(r.Body)
	})
	operation(mux, "POST /local/owner", func(r *http.Request) (any, error) {
		password := auth.RandomPassword()
		db := s.DB.WithRecorder(nil).For("reeve user reset --owner", nil)
		username, err := s.Auth.On(db).Recover(store.Operator(local.Caller(r)), password)
		if store.IsDamage(err) {
			err = fmt.Errorf("%s: %w", s.DB.Dir(), err)
		}
		return recovered{username, password}, errs.ForOperator(err)
	})
	operation(mux, "POST /local/audit-verify", func(r *http.Request) (any, error) {
		var in struct{ Head string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			return nil, err
		}
		return verifyOwnLog(s.DB, in.Head)
	})
	operation(mux, "POST /local/verify", func(r *http.Request) (any, error) {
		return p.verifyCopy(r.Context(), s.DB)
	})
	mux.HandleFunc("GET /local/stacks", func(w http.ResponseWriter, _ *http.Request) {
		writeStacks(w)
	})

	srv := &http.Server{
		Handler:           mux,
		ConnContext:       local.ConnContext,
		ReadHeaderTimeout: 10 * time.Second,
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			p.log.Error().Err(err).Msg("commands can no longer reach the server")
		}
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.Config.StopTimeout)
		defer cancel()
		if srv.Shutdown(ctx) != nil {
			srv.Close() // cuts off the commands that still wait
		}
		<-done
	}
}

// damageCode is the code of an error of an operation that has found damaged data.
const damageCode = "damaged"

// operation adds an operation whose result is the data of the response.
func operation(mux *http.ServeMux, pattern string, do func(*http.Request) (any, error)) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		data, err := do(r)
		answer := any(map[string]any{"data": data})
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			w.WriteHeader(http.StatusConflict)
			code := ""
			if store.IsDamage(err) || errors.As(err, new(*kv.Faulty)) {
				code = damageCode
			}
			answer = map[string]any{"msg": err.Error(), "error": code}
		}
		json.NewEncoder(w).Encode(answer) // fails only if the command has ended
	})
}

func (p *program) status(s *server.Server) status {
	out := status{
		Version:  p.Version,
		Commit:   p.build(),
		PID:      os.Getpid(),
		Data:     s.DB.Dir(),
		Started:  s.Started,
		LogLevel: zerolog.GlobalLevel().String(),
		Draining: s.Draining(),
		Verified: p.verified.Load(),
	}
	if p.serves {
		out.Listen = s.Config.Listen
	} else {
		s.DB.FilesOpened() // so that the health of a file that opens is known; it has the error too
	}
	return out
}

// inForce returns the configuration of the start, or that of the last reload.
func (p *program) inForce() *config.Config { return cmp.Or(p.reloaded.Load(), p.config) }

// reload puts the part of the configuration in force that a running server can change, and logs what
// has changed and what waits for a restart. After an error everything stays as it was.
func (p *program) reload(s *server.Server) (done reloaded, err error) {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	next, changed, kept, err := p.inForce().Reload()
	var warnings []string
	if err == nil {
		warnings, err = p.replace(s, next)
	}
	if err != nil {
		p.log.Error().Err(err).Msg("the configuration was not reloaded")
		return done, err
	}

	if level, err := zerolog.ParseLevel(next.LogLevel); err == nil { // Load has checked it
		zerolog.SetGlobalLevel(level)
	}
	p.reloaded.Store(next)
	p.warn(warnings)
	p.log.WithLevel(zerolog.InfoLevel).Strs("changed", changed).Strs("needs_restart", kept).
		Msg("the configuration was reloaded")
	return reloaded{changed, kept, warnings}, nil
}

// load is what the server does now.
type load struct {
	Requests      []runningRequest `json:"requests"`
	WritesWaiting int              `json:"writes_waiting"`
	HashesWaiting int              `json:"hashes_waiting"`
}

type runningRequest struct {
	ID        string    `json:"request_id"`
	Operation string    `json:"operation"`
	Begun     time.Time `json:"begun"`
}

// load returns what the server does now, except for answering this.
func (p *program) load(s *server.Server) load {
	out := load{
		Requests:      []runningRequest{},
		WritesWaiting: s.DB.Stats().Queued,
		HashesWaiting: s.Auth.Queued(),
	}
	for _, r := range s.Running() {
		out.Requests = append(out.Requests, runningRequest{r.ID, r.Route.Name(), r.Begun})
	}
	return out
}

// replace puts a configuration in force, and returns the warnings about it that a start would log.
func (p *program) replace(s *server.Server, next *config.Config) ([]string, error) {
	settings, err := next.Server()
	if err != nil {
		return nil, err
	}
	protect(&settings, next)
	set, err := next.Backups()
	if err != nil {
		return nil, err
	}
	if err := s.Reload(settings); err != nil {
		return nil, err
	}
	settings.Listen = s.Config.Listen // of a socket that systemd holds, too
	warnings := slices.Concat(next.Warnings, server.Warnings(&settings, s.DB.Dir()))
	if err := s.Backups.Configure(set); err != nil { // it is in force, and is tried again
		warnings = append(warnings, fmt.Sprintf("backup: %v", err))
	}
	return warnings, nil
}

// setLogLevel sets the level of the log until the next reload or start.
func (p *program) setLogLevel(body interface{ Read([]byte) (int, error) }) (any, error) {
	var in struct{ Level string }
	if err := json.NewDecoder(body).Decode(&in); err != nil {
		return nil, err
	}
	level, err := zerolog.ParseLevel(in.Level)
	if err != nil || level < zerolog.DebugLevel || level > zerolog.ErrorLevel {
		return nil, fmt.Errorf("the level must be debug, info, warn or error")
	}
	zerolog.SetGlobalLevel(level)
	p.log.WithLevel(zerolog.InfoLevel).Stringer("log_level", level).Msg("the level of the log was changed")
	return nil, nil
}
