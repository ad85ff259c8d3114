package web

import (
	"bytes"
	"context"
	"errors"

	"reeve/store/errs"
	"reeve/store/jsontext"
	"reeve/store/kv"
)

const (
	maxNesting = 2 * kv.MaxDepth // levels of a JSON body; a node of a tree has two for each level of the tree
	MaxValues  = 20_000          // members and elements of a JSON body, on all levels together
)

// ParseJSON parses one JSON value of at most MaxValues members and elements, see jsontext.Parse.
func ParseJSON(ctx context.Context, b []byte, maxValues int) (any, error) {
	value, err := jsontext.Parse(ctx, b, jsontext.Limits{Depth: maxNesting, Values: maxValues})
	if err == nil {
		return value, nil
	}

	var fault *jsontext.Error
	if !errors.As(err, &fault) {
		return nil, errGone(ctx)
	}

	switch fault.Fault {
	case jsontext.NotUTF8:
		return nil, errs.New(errs.Malformed, "the body is not valid UTF-8")
	case jsontext.Surrogate:
		return nil, errs.New(errs.Malformed, "the body has an escape of a lone surrogate")
	case jsontext.Number:
		return nil, errs.Field(errs.Invalid, fault.Path, "is out of the range of numbers")
	case jsontext.Twice:
		return nil, errs.Field(errs.Malformed, fault.Path, "is given twice")
	case jsontext.TooDeep:
		return nil, errs.New(errs.Malformed, "the body must not be nested deeper than %d levels",
			maxNesting)
	case jsontext.TooMany:
		return nil, errs.New(errs.Malformed, "the body must have at most %d values", maxValues)
	}

	line := 1 + bytes.Count(b[:fault.Offset], []byte("\n"))
	return nil, errs.New(errs.Malformed, "the body is not valid JSON: line %d, byte %d", line,
		fault.Offset)
}

// errGone returns the error for a client that has closed the connection.
func errGone(ctx context.Context) error {
	return errs.New(errs.Malformed, "the connection was closed before the request was read").Because(context.Cause(ctx))
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
