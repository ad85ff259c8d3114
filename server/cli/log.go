package cli

import (
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"

	"reeve/store/errs"
)

// newLog returns a log in a readable format if out is a terminal, else in JSON.
func newLog(out io.Writer, level string) (zerolog.Logger, error) {
	l, err := zerolog.ParseLevel(level)
	if err != nil {
		return zerolog.Logger{}, err
	}
	zerolog.SetGlobalLevel(l) // so that a reload can change it
	zerolog.ErrorMarshalFunc = func(err error) any { return errs.ForOperator(err) }
	if isTerminal(out) {
		out = zerolog.ConsoleWriter{Out: out, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(out).With().Timestamp().Logger(), nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
