package kv

import "io"

// progress calls Options.Progress, if there is one.
func (o *Options) progress(what string, done, total int64) {
	if o.Progress != nil {
		o.Progress(what, done, total)
	}
}

// progressEvery is the number of records after which a verification reports its progress.
const progressEvery = 4096

// readProgress reports how much of a file was read.
type readProgress struct {
	io.Reader
	done int64
	at   func(done int64)
}

func (r *readProgress) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.done += int64(n)
	r.at(r.done)
	return n, err
}
