package copies

import (
	"context"
	"errors"
	"io"
	"time"
)

// stallTime is the time after which a transfer ends in which no byte has moved, and a request that
// moves none.
const stallTime = 2 * time.Minute

// listPatience is how many times as long a list may take: it is many requests.
const listPatience = 10

var errStalled = errors.New("the target does not respond")

// Patient returns a target whose operations end when nothing moves for two minutes.
func Patient(target Target) Target { return patient{target, stallTime} }

// patient is a target whose operations end when nothing moves.
type patient struct {
	Target
	stall time.Duration
}

// guard returns a context that ends when moved is not called for the time p.stall, and the function
// that frees it.
func (p patient) guard(ctx context.Context) (guarded context.Context, moved func(), end func()) {
	guarded, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(p.stall, func() { cancel(errStalled) })
	return guarded, func() { timer.Reset(p.stall) }, func() {
		timer.Stop()
		cancel(nil)
	}
}

// cause returns the reason for which a guarded context has ended instead of an error that it caused.
func cause(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	return err
}

func (p patient) Put(ctx context.Context, name string, size int64, content io.Reader) error {
	guarded, moved, end := p.guard(ctx)
	defer end()
	return cause(guarded, p.Target.Put(guarded, name, size, &moving{content, moved}))
}

func (p patient) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	guarded, moved, end := p.guard(ctx)
	in, err := p.Target.Get(guarded, name)
	if err != nil {
		end()
		return nil, cause(guarded, err)
	}
	return &guardedReader{moving{in, moved}, in, guarded, end}, nil
}

func (p patient) List(ctx context.Context, prefix string) ([]Object, error) {
	p.stall *= listPatience
	guarded, _, end := p.guard(ctx)
	defer end()
	all, err := p.Target.List(guarded, prefix)
	return all, cause(guarded, err)
}

func (p patient) Delete(ctx context.Context, name string) error {
	guarded, _, end := p.guard(ctx)
	defer end()
	return cause(guarded, p.Target.Delete(guarded, name))
}

// moving calls moved for each read.
type moving struct {
	io.Reader
	moved func()
}

func (m *moving) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.moved()
	return n, err
}

type guardedReader struct {
	moving
	closer io.Closer
	ctx    context.Context
	end    func()
}

func (g *guardedReader) Read(p []byte) (int, error) {
	n, err := g.moving.Read(p)
	if err != io.EOF {
		err = cause(g.ctx, err)
	}
	return n, err
}

func (g *guardedReader) Close() error {
	g.end()
	return g.closer.Close()
}
