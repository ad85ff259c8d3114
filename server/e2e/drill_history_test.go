package e2e

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// register is a department whose reads and writes are recorded. Several clients write to it at the same
// time, with and without a condition.
type register struct {
	url     string
	mu      sync.Mutex
	history []porcupine.Operation
	unknown int // writes that may take effect at any time later
}

// Limits of a register, after which another one is used: what the checker has to try grows with both,
// exponentially with the second.
const mostOperations, mostUnknown = 300, 8

// operation is what a client does with a register.
type operation int

const (
	read   operation = iota
	write            // whatever the value is
	change           // if the version is the one that is known
)

// cell is the state of a register.
type cell struct {
	Name    string
	Version int
}

// call is an operation with its arguments.
type call struct {
	operation
	cell // value to write, and version that it replaces
}

// output is what is known of an operation.
type output struct {
	cell          // what a read saw
	unknown  bool // a write may have been done, or may still be
	conflict bool // a change was refused because the version is another one
}

// linear is the model of a register. A write without a known outcome has the effect that it would have
// whenever it comes, and may come after all other operations, which is as if it never came.
var linear = porcupine.Model{
	Init: func() any { return cell{} }, // before it is created
	Step: func(state, in, out any) (bool, any) {
		now, i, o := state.(cell), in.(call), out.(output)
		if i.operation == read {
			return now == o.cell, now
		}
		if i.operation == change && i.Version != now.Version {
			return o.conflict || o.unknown, now
		}
		return !o.conflict, cell{i.Name, now.Version + 1}
	},
}

func (r *register) add(since, until time.Duration, in call, out output) {
	if out.unknown {
		until = math.MaxInt64
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, porcupine.Operation{Input: in, Call: int64(since), Output: out, Return: int64(until)})
	if out.unknown {
		r.unknown++
	}
}

func (r *register) worn() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.history) >= mostOperations || r.unknown >= mostUnknown
}

// slotOf has the register that some clients use now.
type slotOf struct {
	d    *drill
	slot int

	mu    sync.Mutex
	now   *register
	count int
}

// register returns the register to use now; nil if a new one can't be had.
func (s *slotOf) register(node int) *register {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil && !s.now.worn() {
		return s.now
	}
	s.count++
	name := fmt.Sprintf("register %d %d", s.slot, s.count)
	a, err := s.d.at(node, s.d.token).do("POST", "/admin/dept", object("name", name, "status", 1))
	if done, _ := outcome(a, err); !done {
		return s.now
	}
	s.now = &register{url: fmt.Sprint("/admin/dept/", into[struct{ ID int }](s.d.t, a).ID)}
	s.now.add(0, time.Since(s.d.begun), call{write, cell{Name: name}}, output{})
	s.d.note(func() { s.d.registers = append(s.d.registers, s.now) })
	return s.now
}

// uses reads and writes registers at one node.
func (s *slotOf) uses(node int) {
	d := s.d
	known := cell{}
	var at *register
	for n := 0; !d.over.Load(); n++ {
		r := s.register(node)
		if r == nil {
			rest(false)
			continue
		}
		if r != at {
			at, known = r, cell{}
		}
		in := call{operation: operation(rand.IntN(3)), cell: cell{fmt.Sprintf("register %d %d %d", s.slot, node, n), known.Version}}
		if in.operation == change && known.Version == 0 {
			in.operation = read
		}
		since := time.Since(d.begun)
		out, ok := d.operate(node, r, in)
		until := time.Since(d.begun)
		if ok {
			r.add(since, until, in, out)
		}
		if in.operation == read && ok {
			known = out.cell
		}
		rest(ok && !out.unknown)
	}
}

// operate does an operation. ok is false if it certainly was not done.
func (d *drill) operate(node int, r *register, in call) (out output, ok bool) {
	var a *answer
	var err error
	switch in.operation {
	case read:
		a, err = d.latest(node, d.token).do("GET", r.url, "")
		if err != nil || a.status != 200 {
			return out, false
		}
		out.cell = into[cell](d.t, a)
		return out, true
	case write:
		a, err = d.at(node, d.token).do("PUT", r.url, object("name", in.Name))
	case change:
		a, err = d.at(node, d.token).do("PUT", r.url, object("name", in.Name, "version", in.Version))
	}
	done, perhaps := outcome(a, err)
	switch {
	case done:
		return out, true
	case perhaps:
		return output{unknown: true}, true
	case err == nil && a.ErrorCode == "stale":
		return output{conflict: true}, true
	}
	return out, false
}

// checkRegisters checks that each history can be put in one order in which each operation takes effect
// between its request and its answer.
func (d *drill) checkRegisters() {
	operations, undecided := 0, 0
	for _, r := range d.registers {
		operations += len(r.history)
		switch porcupine.CheckOperationsTimeout(linear, r.history, time.Minute) {
		case porcupine.Illegal:
			d.t.Errorf("the operations of %s are not linearizable: %+v", r.url, r.history)
		case porcupine.Unknown:
			undecided++
		}
	}
	if undecided > len(d.registers)/10 {
		d.t.Errorf("%d histories of %d were too long to check", undecided, len(d.registers))
	}
	d.t.Logf("%d operations on %d registers, of which %d were not decided", operations, len(d.registers), undecided)
}

// TestLinear_Refuses: the model accepts a history with a write of unknown outcome that is seen late, and
// refuses lost writes, writes that no client made, and conflicts without a reason.
func TestLinear_Refuses(t *testing.T) {
	one, two := cell{"one", 1}, cell{"two", 2}
	begin := func(more ...func(*register)) porcupine.CheckResult {
		r := &register{}
		r.add(0, 1, call{write, cell{Name: "one"}}, output{})
		for _, fn := range more {
			fn(r)
		}
		return porcupine.CheckOperationsTimeout(linear, r.history, 0)
	}
	sees := func(at time.Duration, c cell) func(*register) {
		return func(r *register) { r.add(at, at+1, call{operation: read}, output{cell: c}) }
	}
	writes := func(at time.Duration, in call, out output) func(*register) {
		return func(r *register) { r.add(at, at+1, in, out) }
	}
	plain, conditional := call{write, cell{Name: "two"}}, call{change, cell{"two", 1}}
	for name, tc := range map[string]struct {
		got  porcupine.CheckResult
		want porcupine.CheckResult
	}{
		"unknown, seen late":    {begin(writes(2, plain, output{unknown: true}), sees(4, one), sees(6, two)), porcupine.Ok},
		"unknown, never seen":   {begin(writes(2, plain, output{unknown: true}), sees(4, one)), porcupine.Ok},
		"unknown, seen and not": {begin(writes(2, plain, output{unknown: true}), sees(4, two), sees(6, one)), porcupine.Illegal},
		"lost":                  {begin(writes(2, plain, output{}), sees(4, one)), porcupine.Illegal},
		"refused, but done":     {begin(sees(4, two)), porcupine.Illegal},
		"changed twice":         {begin(writes(2, conditional, output{}), writes(4, conditional, output{})), porcupine.Illegal},
		"conflict":              {begin(writes(2, conditional, output{}), writes(4, conditional, output{conflict: true}), sees(6, two)), porcupine.Ok},
		"conflict without one":  {begin(writes(2, conditional, output{conflict: true})), porcupine.Illegal},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %s, want %s", name, tc.got, tc.want)
		}
	}
}
