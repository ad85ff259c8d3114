package server

import "reeve/store/errs"

// A hint to clients how to show an answer, as Ant Design Pro's request layer has it.
const (
	showSilently  = 0
	showWarning   = 1
	showError     = 2
	notifyWarning = 4
	notifyError   = 5
)

// status maps every kind of error to its HTTP status and showType; the only place.
var status = map[errs.Kind]struct{ code, show int }{
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
}
