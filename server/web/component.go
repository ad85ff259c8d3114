package web

import (
	"github.com/rs/zerolog"

	"reeve/store"
	"reeve/store/errs"
)

const Healthy = "ok"

const Checking = "checking" // works; data is still being opened or verified

const Degraded = "degraded" // works, but needs attention

const Failed = "failed"

// Part is a component whose health is checked.
type Part struct {
	Name    string           `json:"name" doc:"Name of the component"`
	State   string           `json:"state" doc:"State of the component: ok, checking, degraded or failed"`
	Text    string           `json:"text" doc:"Description of the state, in the language of the request"`
	Reason  Reason           `json:"reason" doc:"Code and parameters of text"`
	Since   store.Time       `json:"since" null:"true" doc:"Time since when the component has failed, if known"`
	Figures map[string]int64 `json:"figures" doc:"Figures by name, which ends in the unit"`

	Message errs.Message `json:"-"` // written to Text and Reason for a response
}

// UnknownPart returns the state of a component whose check failed, and logs the cause.
func (s *Server) UnknownPart(name string, err error) Part {
	s.Failures.Report(s.Log, "part "+name, err, func(line *zerolog.Event) {
		line.Str("part", name).Msg("a health check failed")
	})
	return Part{Name: name, State: Failed, Message: errs.Of(err).Msg, Figures: map[string]int64{}}
}
