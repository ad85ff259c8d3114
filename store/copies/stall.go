package copies

import (
	"context"
	"io"
	"time"

	"reeve/store/stall"
)

// listPatience is how many times as long a list may take: it is many requests.
const listPatience = 10

// Patient returns a target whose operations end when nothing moves for two minutes.
func Patient(target Target) Target { return patient{target, stall.Patience} }

// patient is a target whose operations end when nothing moves.
type patient struct {
	Target
	stall time.Duration
}

func (p patient) Put(ctx context.Context, name string, size int64, content io.Reader) error {
	guarded, moved, end := stall.Guard(ctx, p.stall)
	defer end()
	return stall.Cause(guarded, p.Target.Put(guarded, name, size, &stall.Reader{Reader: content, Moved: moved}))
}

func (p patient) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	guarded, moved, end := stall.Guard(ctx, p.stall)
	in, err := p.Target.Get(guarded, name)
	if err != nil {
		end()
		return nil, stall.Cause(guarded, err)
	}
	return &guardedReader{stall.Reader{Reader: in, Moved: moved}, in, guarded, end}, nil
}

func (p patient) List(ctx context.Context, prefix string) ([]Object, error) {
	guarded, _, end := stall.Guard(ctx, listPatience*p.stall)
	defer end()
	all, err := p.Target.List(guarded, prefix)
	return all, stall.Cause(guarded, err)
}

func (p patient) Delete(ctx context.Context, name string) error {
	guarded, _, end := stall.Guard(ctx, p.stall)
	defer end()
	return stall.Cause(guarded, p.Target.Delete(guarded, name))
}

type guardedReader struct {
	stall.Reader
	closer io.Closer
	ctx    context.Context
	end    func()
}

func (g *guardedReader) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	if err != io.EOF {
		err = stall.Cause(g.ctx, err)
	}
	return n, err
}

func (g *guardedReader) Close() error {
	g.end()
	return g.closer.Close()
}
