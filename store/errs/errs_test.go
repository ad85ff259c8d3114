package errs

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFaults_OneError(t *testing.T) {
	bad := Say("is bad")
	for name, test := range map[string]struct {
		faults Faults
		want   error
	}{
		"none": {Faults{}, nil},
		"one": {Faults{"a": bad}, &Error{
			Kind:   Invalid,
			Code:   "invalid",
			Msg:    Say("%s: %s", "a", bad),
			Fields: Faults{"a": bad},
		}},
		"several": {Faults{"a": bad, "b": Say("y")}, &Error{
			Kind:   Invalid,
			Code:   "invalid",
			Msg:    Say("%s; 1 more field is invalid", Say("%s: %s", "a", bad)),
			Fields: Faults{"a": bad, "b": Say("y")},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.faults.Err(Invalid); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %#v, want %#v", got, test.want)
			}
		})
	}
}

func TestFaults_Merge(t *testing.T) {
	plain := errors.New("plain")
	for name, test := range map[string]struct {
		err    error
		want   Faults
		passed error
	}{
		"an error about fields": {Field(Invalid, "b", "is %d", 7), Faults{
			"a": Say("first"),
			"b": Say("is %d", 7),
		}, nil},
		"a wrapped one": {fmt.Errorf("because: %w", Field(Invalid, "b", "bad")), Faults{
			"a": Say("first"),
			"b": Say("bad"),
		}, nil},
		"one about a field with fault": {Field(Invalid, "a", "second"), Faults{"a": Say("first")},
			nil},
		"an error about none": {plain, Faults{"a": Say("first")}, plain},
		"no error":            {nil, Faults{"a": Say("first")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			faults := Faults{"a": Say("first")}
			if passed := faults.Merge(test.err); passed != test.passed {
				t.Errorf("passed on %v, want %v", passed, test.passed)
			}
			if !reflect.DeepEqual(faults, test.want) {
				t.Errorf("got %v, want %v", faults, test.want)
			}
		})
	}
}

func TestOf_HidesOtherErrors(t *testing.T) {
	cause := errors.New("/secret/path: broken")
	e := Of(cause)
	if e.Kind != Internal || e.Code != "internal" || e.Msg.String() != "internal server error" ||
		!errors.Is(e, cause) {
		t.Errorf("got %#v", e)
	}

	ours := New(NotFound, "%s %d not found", Noun("user"), 7)
	if got := Of(fmt.Errorf("wrapped: %w", ours)); got != ours {
		t.Errorf("got %#v, want the one that was wrapped", got)
	}
	if !Is(fmt.Errorf("wrapped: %w", ours), NotFound) || Is(ours, Conflict) ||
		Is(cause, Internal) ||
		Is(nil, Internal) {
		t.Error("Is does not tell kinds apart")
	}
}

func TestKinds_UniqueCodes(t *testing.T) {
	seen := map[string]Kind{}
	for kind := Internal; kind <= Full; kind++ {
		code := New(kind, "").Code
		if other, ok := seen[code]; ok || code == "" {
			t.Errorf("kind %d has the code %q, as %d has", kind, code, other)
		}
		seen[code] = kind
	}
}

// TestFaults_Limit: messages that quote input are truncated, and the number of
// faults is limited.
// The rows of a file have a limit of their own.
func TestFaults_RowLimit(t *testing.T) {
	faults := Faults{}
	for i := range MaxRowFaults + 7 {
		faults.AddRow(i+2, "email", Say("is required"))
	}
	faults.Add("file", "is required")
	if e := Of(faults.Err(Invalid)); len(e.Fields) != MaxRowFaults ||
		e.Fields["line 2 email"].Empty() || !e.Fields["file"].Empty() ||
		!strings.HasSuffix(e.Msg.String(),
			"; at least 999 more fields are invalid, only 1000 are listed") {
		t.Errorf("%d faults, %q", len(e.Fields), e.Msg)
	}
}

func TestFaults_Limit(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	faults := Faults{}
	for i := range 1000 {
		faults.Add(fmt.Sprint(i, long), "%q is bad", long)
	}

	for name, err := range map[string]error{
		"a message": New(Malformed, "%s is bad", long),
		"a field":   Field(Malformed, long, "%s is bad", long),
		"one fault": Faults{"a": Say("b")}.Err(Malformed), "many faults": faults.Err(Malformed),
	} {
		e := Of(err)
		size := len(e.Msg.In(Chinese))
		for field, fault := range e.Fields {
			text := fault.In(Chinese)
			size += len(field) + len(text)
			if !utf8.ValidString(field) || !utf8.ValidString(text) {
				t.Errorf("%s: a character was cut in half", name)
			}
		}
		if limit := 3*maxText + maxFaults*(maxName+maxText); size > limit ||
			len(e.Fields) > maxFaults {
			t.Errorf("%s has %d bytes in %d fields, at most %d in %d are wanted", name, size,
				len(e.Fields), limit, maxFaults)
		}
	}

	if e := Of(faults.Err(Malformed)); !strings.HasSuffix(e.Msg.String(),
		"; at least 99 more fields are invalid, only 100 are listed") {
		t.Errorf("got %q", e.Msg)
	}
}
