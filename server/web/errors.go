package web

import "reeve/store/errs"

// Values of showType, which tell clients how to show a message, as in Ant Design Pro's
// request layer.
const (
	ShowSilently  = 0
	showWarning   = 1
	showError     = 2
	notifyWarning = 4
	notifyError   = 5
)

// Status maps every kind of error to its HTTP status and showType. Nothing else does.
var Status = map[errs.Kind]struct{ Code, show int }{
	errs.Malformed:       {400, showWarning},
	errs.Unauthenticated: {401, showError},
	errs.Denied:          {403, notifyWarning},
	errs.NotFound:        {404, showError},
	errs.BadMethod:       {405, showError},
	errs.Conflict:        {409, showError},
	errs.TooLarge:        {413, showError},
	errs.BadMedia:        {415, showError},
	errs.Invalid:         {422, showWarning},
	errs.TooMany:         {429, showWarning},
	errs.Internal:        {500, notifyError},
	errs.Busy:            {503, notifyError},
	errs.Full:            {507, notifyError},
	errs.BadRange:        {416, showError},
	errs.Gone:            {410, showError},
}

// Failure is the envelope of an error.
type Failure struct {
	Data      Nothing           `json:"data"`
	Success   bool              `json:"success"`
	Msg       string            `json:"msg"`
	ShowType  int               `json:"showType"`
	ErrorCode string            `json:"errorCode"`
	RequestID string            `json:"requestId"`
	Reason    *Reason           `json:"reason,omitempty"`
	Errors    map[string]string `json:"errors,omitempty"`
	Details   map[string]Reason `json:"details,omitempty"`
}

// failureOf returns the envelope of an error in a language, without the ID of a request.
func failureOf(e *errs.Error, l errs.Language) Failure {
	out := Failure{
		Msg:       e.Msg.In(l),
		ShowType:  Status[e.Kind].show,
		ErrorCode: e.Code,
		Errors:    e.Fields.In(l),
		Details:   Reasons(e.Fields),
	}
	if e.Fields == nil {
		why := ReasonOf(e.Msg)
		out.Reason = &why
	}
	return out
}

// Reason is a message as its code and parameters, for programs.
type Reason struct {
	Code   string         `json:"code" doc:"Stable name of the message"`
	Params map[string]any `json:"params,omitempty" doc:"What the message names; one that is a message itself is an object of code and params"`
}

func ReasonOf(m errs.Message) Reason { return Reason{m.Code(), m.Params()} }

// Reasons returns the codes and parameters of faults, by field.
func Reasons(faults errs.Faults) map[string]Reason {
	if faults == nil {
		return nil
	}
	all := make(map[string]Reason, len(faults))
	for field, fault := range faults {
		all[field] = ReasonOf(fault)
	}
	return all
}
