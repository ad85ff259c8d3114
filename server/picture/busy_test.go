package picture

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

	"reeve/server/picture/picturetest"
	"reeve/store/errs"
)

func TestDecoding_OnePerCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewScaler()
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan func(), cap(p.cores)+2)
		refused := make(chan error, 2)
		for range cap(p.cores) + 2 {
			go func() {
				release, err := p.Admit(ctx, 1<<20)
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

// TestDecoding_SharedMemory: all pictures in progress share one memory budget,
// however many cores there are, and a picture waiting for memory blocks no core.
func TestDecoding_SharedMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewScaler()
		p.cores = make(chan struct{}, 4)
		ctx, cancel := context.WithCancel(t.Context())
		first, err := p.Admit(ctx, pictureMemory*3/4)
		must(t, err)
		done := make(chan error)
		go func() {
			_, err := p.Admit(ctx, pictureMemory/2)
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
		again, err := p.Admit(t.Context(), pictureMemory)
		must(t, err)
		again()
		if len(p.cores) != 0 {
			t.Errorf("%d cores are never given back", len(p.cores))
		}
	})
}

// TestDecoding_MemoryCost: the memory depends on format, depth and encoding.
func TestDecoding_MemoryCost(t *testing.T) {
	photo := picturetest.Quarters(64, 32, picturetest.Red, picturetest.Lime, picturetest.Blue,
		picturetest.White)
	for name, test := range map[string]struct {
		data []byte
		want bool
	}{
		"jpeg of 12 million": {picturetest.JPEGSized(t, picturetest.JPEG(t, photo),
			4000, 3000), true},
		"jpeg of 40 million": {picturetest.JPEGSized(t, picturetest.JPEG(t, photo),
			8000, 5000), true},
		"progressive jpeg of 12 million": {picturetest.JPEGSized(t,
			picturetest.Fixture(t, picturetest.ProgressiveJPEG), 4000, 3000), true},
		"progressive jpeg of 40 million": {picturetest.JPEGSized(t,
			picturetest.Fixture(t, picturetest.ProgressiveJPEG), 8000, 5000), false},
		"unclear jpeg of 12 million": {picturetest.InJPEG(picturetest.JPEGSized(t,
			picturetest.JPEG(t, photo), 4000, 3000), picturetest.JPEGSegment(0xE0, []byte("x")),
			[]byte{0, 0}), false},
		"png of 12 million":               {picturetest.PNGHeader(4000, 3000, 8, 6, 0), true},
		"png of 12 million, 16 bits":      {picturetest.PNGHeader(4000, 3000, 16, 6, 0), true},
		"the same, interlaced":            {picturetest.PNGHeader(4000, 3000, 16, 6, 1), false},
		"png of 6300 × 6300, 16 bits":     {picturetest.PNGHeader(6300, 6300, 16, 6, 0), false},
		"png of 6300 × 6300, 16 bit gray": {picturetest.PNGHeader(6300, 6300, 16, 0, 0), true},
		"the same, made transparent": {picturetest.Join(picturetest.PNGHeader(6300, 6300, 16,
			0, 0), picturetest.PNGChunk("tRNS", []byte{0, 0})), false},
		"png of 6300 × 6300, 8 bits": {picturetest.PNGHeader(6300, 6300, 8, 6, 0), false},
		"png of 6300 × 6300, gray":   {picturetest.PNGHeader(6300, 6300, 8, 0, 0), true},
		"gif of 12 million":          {picturetest.GIFHeader(4000, 3000), true},
		"webp of 64 × 32":            {picturetest.Fixture(t, picturetest.LosslessWebP), true},
	} {
		pic, err := inspectPicture(&pictureSource{ctx: t.Context(),
			src: bytes.NewReader(test.data)})
		must(t, err)
		if err := pic.affordable(256, 256); (err == nil) != test.want {
			t.Errorf("%s: %d MiB, %v", name, pic.memory(256, 256)>>20, err)
		}
	}
}

func TestShrink_ErrorReason(t *testing.T) {
	data := picturetest.PNG(t,
		picturetest.Quarters(64, 32, picturetest.Red, picturetest.Lime, picturetest.Blue,
			picturetest.White))

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	broken := errs.New(errs.Full, "the disk is full")
	for name, test := range map[string]struct {
		ctx     context.Context
		src     io.ReadSeeker
		timeout time.Duration
		check   func(error) bool
	}{
		"when the caller cancels": {gone, bytes.NewReader(data), time.Minute, func(err error) bool {
			return errs.Is(err, errs.Busy) && errors.Is(err, context.Canceled)
		}},
		"when the input fails late": {t.Context(), &failing{bytes.NewReader(data), 100, broken},
			time.Minute, func(err error) bool {
				return errors.Is(err, broken)
			}},
		"when the input fails early": {t.Context(), &failing{bytes.NewReader(data), 2, broken},
			time.Minute, func(err error) bool {
				return errors.Is(err, broken)
			}},
		"when the timeout expires": {t.Context(), bytes.NewReader(data), 0, func(err error) bool {
			return errs.Is(err, errs.Invalid) &&
				errs.Of(err).Fields["file"].String() == "the image takes too long to decode"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := NewScaler()
			p.timeout = test.timeout
			if _, _, err := p.Scale(test.ctx, test.src, 8, 8); !test.check(err) {
				t.Errorf("got %v", err)
			}
			if len(p.cores) != 0 {
				t.Error("a core is not released")
			}
		})
	}
}

// failing is an input that fails after its first bytes.
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

// TestShrink_Timeout has a JPEG of 16 million pixels with over a hundred
// thousand scans over all of them, each of 29 bytes.
func TestShrink_Timeout(t *testing.T) {
	const side, ac = 4000, 0x10
	size := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{8}, side), side)
	code := append([]byte{ac, 1}, make([]byte, 15)...) // one code of one bit: a run of up to 32,767 empty blocks
	run := new(big.Int)
	for range 10 { // the code 0, and 14 bits for a run of 27,306 blocks
		run.Or(run.Lsh(run, 15), big.NewInt(0b0_10101010101010))
	}

	scan := picturetest.Join(picturetest.JPEGSegment(0xDA, []byte{1, 1, 0, 1, 1, 0}),
		run.Lsh(run, 2).FillBytes(make([]byte, 19)))
	data := picturetest.Join([]byte{0xFF, 0xD8},
		picturetest.JPEGSegment(0xC2, append(size, 1, 1, 0x11, 0)),
		picturetest.JPEGSegment(0xC4, append(code, 0xE0)), bytes.Repeat(scan, 100_000),
		[]byte{0xFF, 0xD9})

	p := NewScaler()
	p.timeout /= 40
	var err error
	used := allocating(func() { _, _, err = p.Scale(t.Context(), bytes.NewReader(data), 8, 8) })
	checkPictureFault(t, err, errs.Invalid, "takes too long")
	if used < side*side*4 {
		t.Errorf("%d KiB were allocated: it has not begun to decode", used>>10)
	}
}

// BenchmarkShrink makes a thumbnail of a photograph of 12 million pixels.
func BenchmarkShrink(b *testing.B) {
	img := image.NewNRGBA(image.Rect(0, 0, 4000, 3000))
	for i := range img.Pix {
		img.Pix[i] = uint8(i*i>>9 ^ i>>3)
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	for name, data := range map[string][]byte{
		"jpeg": picturetest.JPEG(b, img),
		"png":  picturetest.PNG(b, img),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _, err := shrinkBytes(b, data, 200, 200)
				must(b, err)
			}
		})
	}
}
