package jsontext

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestParse_Faults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Error{
		"{":                      {Fault: Syntax, Offset: 1},
		"\"\xff\"":               {Fault: NotUTF8},
		`{"a":"\ud800"}`:         {Fault: Surrogate},
		`["\udc00\ud800"]`:       {Fault: Surrogate},
		`{"a":[1,1e999]}`:        {Fault: Number, Path: "a[1]"},
		`-1e999`:                 {Fault: Number},
		strings.Repeat("9", 400): {Fault: Number},
		`{"a":{"b":1,"b":2}}`:    {Fault: Twice, Path: "a.b"},
		`[[[1]]]`:                {Fault: TooDeep},
		`[1,2,3,4,5]`:            {Fault: TooMany},
	} {
		_, err := Parse(context.Background(), []byte(text), Limits{Depth: 2, Values: 4})
		var got *Error
		if !errors.As(err, &got) || *got != want {
			t.Errorf("%s: %v, not %v", text, err, want)
		}
	}

	gone, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("gone")
	cancel(cause)
	if _, err := Parse(gone, []byte("1"), Limits{}); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}

func TestParse_Values(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`null`, `"\ud83d\ude00"`, `[9007199254740993,1e308,5e-324,1e-999,-0]`, `{"":{"a\n":[]}}`,
		`[true,false,"\u0000"]`,
	} {
		v, err := Value(text, 32)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}

		again, err := json.Marshal(v)
		var a, b any
		if err != nil || json.Unmarshal(again, &a) != nil ||
			json.Unmarshal([]byte(text), &b) != nil {
			t.Errorf("%s became %s", text, again)
		}
		if strings.Contains(text, "9007199254740993") &&
			!strings.Contains(string(again), "9007199254740993") {
			t.Errorf("%s became %s", text, again)
		}
	}
}
