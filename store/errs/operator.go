package errs

import (
	"errors"
	"strings"
)

// ForOperator returns an error for the log or the terminal of an operator: without the text that
// replaces internal errors for clients. nil stays nil.
func ForOperator(err error) error {
	if err == nil {
		return nil
	}
	return forOperator{err}
}

type forOperator struct{ error }

func (e forOperator) Error() string {
	return strings.ReplaceAll(e.error.Error(), Of(errors.New("")).Msg.String()+": ", "")
}

func (e forOperator) Unwrap() error { return e.error }
