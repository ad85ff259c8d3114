package copies

import (
	"context"
	"errors"
	"io"
	"os"

	"filippo.io/age"

	"reeve/store/disk"
)

// Put stores an object by itself, without a Repository: a content of size bytes, encrypted to recipients.
// It is read back and compared.
func Put(ctx context.Context, target Target, name string, size int64, recipients []age.Recipient,
	write func(io.Writer) error) (Stored, error) {
	w := &writer{
		Repository: &Repository{target: target},
		progress:   func(int64, int64) {},
		limit:      NewLimiter(0),
	}
	return w.store(ctx, name, size, recipients, write)
}

// FetchObject reads an object to a new file, as it is stored.
func FetchObject(ctx context.Context, target Target, name, path string) error {
	in, err := target.Get(ctx, name)
	if err != nil {
		return err
	}
	defer in.Close() // read only: nothing can be lost
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(&disk.StepWriter{File: f}, &counted{ctx: ctx, r: in})
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
