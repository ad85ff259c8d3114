package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"io"
	"math/big"
	"testing"
	"testing/synctest"
	"time"

	"reeve/store/errs"
)

func TestPicturesAreDecodedOnePerCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPictures(newLimit("pictures", maxPictures, ""))
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan func(), cap(p.cores)+2)
		refused := make(chan error, 2)
		for range cap(p.cores) + 2 {
			go func() {
				release, err := p.admit(ctx, 1<<20)
				if err != nil {
					refused <- err
					return
				}
				got <- release
			}()
		}
		synctest.Wait()
		if len(got) != cap(p.cores) {
			t.Fatalf("%d are at work on %d cores", len(got), cap(p.cores))
		}
		(<-got)()
		synctest.Wait()
		if len(got) != cap(p.cores) {
			t.Fatalf("%d are at work after one has finished", len(got))
		}
		cancel()
		synctest.Wait()
		if err := <-refused; !errs.Is(err, errs.Busy) || !errors.Is(err, context.Canceled) {
			t.Errorf("who waited and left is told %v", err)
		}
		for len(got) > 0 {
			(<-got)()
		}
		if len(p.cores) != 0 {
			t.Errorf("%d cores are never given back", len(p.cores))
		}
	})
}

// All pictures in work share one budget of memory, however many cores there are; who
// waits for memory holds no core.
func TestPicturesShareTheirMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPictures(newLimit("pictures", maxPictures, ""))
		p.cores = make(chan struct{}, 4)
		ctx, cancel := context.WithCancel(t.Context())
		first, err := p.admit(ctx, pictureMemory*3/4)
		must(t, err)
		done := make(chan error)
		go func() {
			_, err := p.admit(ctx, pictureMemory/2)
			done <- err
		}()
		synctest.Wait()
		if len(p.cores) != 1 {
			t.Errorf("%d cores are held", len(p.cores))
		}
		cancel()
		if err := <-done; !errs.Is(err, errs.Busy) {
			t.Errorf("the second one: %v", err)
		}
		first()
		again, err := p.admit(t.Context(), pictureMemory)
		must(t, err)
		again()
		if len(p.cores) != 0 || p.limit.now() != 0 {
			t.Errorf("%d cores and %d places are never given back", len(p.cores), p.limit.now())
		}
	})
}

func TestPicturesDoNotQueueForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPictures(newLimit("pictures", maxPictures, "too many pictures"))
		for range cap(p.cores) {
			_, err := p.admit(t.Context(), 1)
			must(t, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		for range maxPictures - cap(p.cores) {
			go p.admit(ctx, 1)
		}
		synctest.Wait()
		if _, err := p.admit(t.Context(), 1); !errs.Is(err, errs.Busy) || errs.Of(err).RetryAfter == 0 {
			t.Errorf("one too many: %v", err)
		}
		cancel()
		synctest.Wait()
		if got := p.limit.now(); got != int64(cap(p.cores)) {
			t.Errorf("%d places are held", got)
		}
	})
}

// What a picture takes depends on its format, its depth and how it is encoded.
func TestWhichPicturesAreAffordable(t *testing.T) {
	photo := quarters(64, 32, red, lime, blue, white)
	for name, test := range map[string]struct {
		data []byte
		want bool
	}{
		"jpeg of 12 million":              {jpegSized(t, asJPEG(t, photo), 4000, 3000), true},
		"jpeg of 40 million":              {jpegSized(t, asJPEG(t, photo), 8000, 5000), true},
		"progressive jpeg of 12 million":  {jpegSized(t, fixture(t, progressiveJPEG), 4000, 3000), true},
		"progressive jpeg of 40 million":  {jpegSized(t, fixture(t, progressiveJPEG), 8000, 5000), false},
		"unclear jpeg of 12 million":      {inJPEG(jpegSized(t, asJPEG(t, photo), 4000, 3000), jpegSegment(0xE0, []byte("x")), []byte{0, 0}), false},
		"png of 12 million":               {pngHeader(4000, 3000, 8, 6, 0), true},
		"png of 12 million, 16 bits":      {pngHeader(4000, 3000, 16, 6, 0), true},
		"the same, interlaced":            {pngHeader(4000, 3000, 16, 6, 1), false},
		"png of 6300 × 6300, 16 bits":     {pngHeader(6300, 6300, 16, 6, 0), false},
		"png of 6300 × 6300, 16 bit gray": {pngHeader(6300, 6300, 16, 0, 0), true},
		"the same, made transparent":      {joined(pngHeader(6300, 6300, 16, 0, 0), pngChunk("tRNS", []byte{0, 0})), false},
		"png of 6300 × 6300, 8 bits":      {pngHeader(6300, 6300, 8, 6, 0), false},
		"png of 6300 × 6300, gray":        {pngHeader(6300, 6300, 8, 0, 0), true},
		"gif of 12 million":               {gifHeader(4000, 3000), true},
		"webp of 64 × 32":                 {fixture(t, losslessWebP), true},
	} {
		pic, err := inspectPicture(&pictureSource{ctx: t.Context(), src: bytes.NewReader(test.data)})
		must(t, err)
		if err := pic.affordable(256, 256); (err == nil) != test.want {
			t.Errorf("%s: %d MiB, %v", name, pic.memory(256, 256)>>20, err)
		}
	}
}

func TestShrinkGivesUp(t *testing.T) {
	data := asPNG(t, quarters(64, 32, red, lime, blue, white))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	broken := errs.New(errs.Full, "the disk is full")
	for name, test := range map[string]struct {
		ctx      context.Context
		src      io.ReadSeeker
		patience time.Duration
		check    func(error) bool
	}{
		"when its caller has gone":   {gone, bytes.NewReader(data), time.Minute, func(err error) bool { return errs.Is(err, errs.Busy) && errors.Is(err, context.Canceled) }},
		"when the input fails late":  {t.Context(), &failing{bytes.NewReader(data), 100, broken}, time.Minute, func(err error) bool { return errors.Is(err, broken) }},
		"when the input fails early": {t.Context(), &failing{bytes.NewReader(data), 2, broken}, time.Minute, func(err error) bool { return errors.Is(err, broken) }},
		"when its patience has ended": {t.Context(), bytes.NewReader(data), 0, func(err error) bool {
			return errs.Is(err, errs.Invalid) && errs.Of(err).Fields["file"] == "the picture takes too long to decode"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPictures(newLimit("pictures", maxPictures, ""))
			p.patience = test.patience
			if _, _, err := p.shrink(test.ctx, test.src, 8, 8); !test.check(err) {
				t.Errorf("got %v", err)
			}
			if len(p.cores) != 0 || p.limit.now() != 0 {
				t.Error("a core is never given back")
			}
		})
	}
}

// failing is an input of which only the first bytes can be read.
type failing struct {
	*bytes.Reader
	good int64
	err  error
}

func (f *failing) Read(b []byte) (int, error) {
	at := f.Size() - int64(f.Len())
	if at >= f.good {
		return 0, f.err
	}
	return f.Reader.Read(b[:min(int64(len(b)), f.good-at)])
}

// TestShrinkEndsWithinItsPatience has a jpeg of 16 million pixels that are gone
// over a hundred thousand times, each time for 29 bytes.
func TestShrinkEndsWithinItsPatience(t *testing.T) {
	const side, ac = 4000, 0x10
	size := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{8}, side), side)
	code := append([]byte{ac, 1}, make([]byte, 15)...) // one code of one bit: a run of up to 32,767 blocks without a value
	run := new(big.Int)
	for range 10 { // the code 0 and 14 bits that make a run of 27,306 blocks
		run.Or(run.Lsh(run, 15), big.NewInt(0b0_10101010101010))
	}
	scan := joined(jpegSegment(0xDA, []byte{1, 1, 0, 1, 1, 0}), run.Lsh(run, 2).FillBytes(make([]byte, 19)))
	data := joined([]byte{0xFF, 0xD8}, jpegSegment(0xC2, append(size, 1, 1, 0x11, 0)), jpegSegment(0xC4, append(code, 0xE0)), bytes.Repeat(scan, 100_000), []byte{0xFF, 0xD9})
	p := newPictures(newLimit("pictures", maxPictures, ""))
	p.patience /= 40
	var err error
	used := allocating(func() { _, _, err = p.shrink(t.Context(), bytes.NewReader(data), 8, 8) })
	checkPictureFault(t, err, errs.Invalid, "takes too long")
	if used < side*side*4 {
		t.Errorf("%d KiB were allocated: it has not begun to decode", used>>10)
	}
}

// BenchmarkShrink is a photograph of 12 million pixels as a thumbnail.
func BenchmarkShrink(b *testing.B) {
	img := image.NewNRGBA(image.Rect(0, 0, 4000, 3000))
	for i := range img.Pix {
		img.Pix[i] = uint8(i*i>>9 ^ i>>3)
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	for name, data := range map[string][]byte{"jpeg": asJPEG(b, img), "png": asPNG(b, img)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _, err := shrinkBytes(b, data, 200, 200)
				must(b, err)
			}
		})
	}
}
