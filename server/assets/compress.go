package assets

import (
	"bytes"
	"runtime/debug"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// codings are the names of the codings, best first.
var codings = []string{"zstd", "gzip"}

// maxWindow is the largest window that clients must support (RFC 9659).
const maxWindow = 8 << 20

// large is the size in bytes from which texts are compressed at the best level of zstd. It makes
// the scripts of a page 5 % smaller than gzip does, where the next level saves 1 %, but needs 34
// MiB. There are only a few such files, so each has an encoder of its own, whose memory goes back
// to the system.
const large = 64 << 10

// small has encoders for other texts, of which the best level saves no more than 1 %.
var small = sync.Pool{New: func() any { return encoder(zstd.SpeedBetterCompression) }}

func encoder(level zstd.EncoderLevel) *zstd.Encoder {
	// The only errors are options out of range.
	e, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithWindowSize(maxWindow),
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
	return e
}

var gzips = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestCompression) // the only error is an unknown level
	return w
}}

// compress returns a text in a coding of codings, without unused capacity.
func compress(coding string, text []byte) []byte {
	if coding == "zstd" && len(text) >= large {
		defer debug.FreeOSMemory()
		return bytes.Clone(encoder(zstd.SpeedBestCompression).EncodeAll(text, nil))
	}
	if coding == "zstd" {
		e := small.Get().(*zstd.Encoder)
		defer small.Put(e)
		return bytes.Clone(e.EncodeAll(text, nil))
	}

	w := gzips.Get().(*gzip.Writer)
	defer gzips.Put(w)
	var out bytes.Buffer
	w.Reset(&out)
	w.Write(text) // a bytes.Buffer never fails
	w.Close()
	return bytes.Clone(out.Bytes())
}
