// Package picture scales pictures that untrusted users upload, and removes the metadata of
// those that are published.
//
// A Scaler decodes PNG, JPEG, GIF and WebP and encodes the result again, so that only
// the pixels survive. The memory and time that a picture may need are checked against
// its header before it is decoded, and a result that contradicts the header is
// rejected.
//
// Clean does not decode. It lists the byte ranges of a file that a viewer needs, and Stitch
// reads them as one file, without its location, comments and previews.
//
//	small, media, err := scaler.Scale(ctx, upload, 256, 256)
//
//	pieces, err := picture.Clean("image/jpeg", file, size)
//	public := picture.Stitch(file, pieces)
package picture

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"

	"reeve/store/errs"
)

// Limits for one picture. Decoders allocate memory before they read pixels, so the header
// is checked against these.
const (
	maxPictureBytes  = 64 << 20
	maxPictureSide   = 1 << 16 // a PNG may have one row of 40 million pixels, and its decoder keeps three rows
	maxPixels        = 40_000_000
	maxShrunk        = 1024      // side of a result; scaling needs 128 bytes and more per pixel of it
	pictureMemory    = 128 << 20 // bytes for all pictures being scaled together
	pictureTimeout   = 20 * time.Second
	maxPictureChunks = 1 << 14 // chunks or segments to search before decoding; a large PNG has 8,192
	pictureQuality   = 85      // of a JPEG; a higher quality shows no difference at these sizes
	pngMediaType     = "image/png"
	jpegMediaType    = "image/jpeg"
	pictureIsDamaged = "the image is damaged or incomplete"
)

// Scaler scales pictures. It leaves one core to other requests where there are two or
// more, and all pictures being scaled share one memory budget.
type Scaler struct {
	cores   chan struct{}
	memory  *semaphore.Weighted // bytes
	timeout time.Duration       // limit of one picture; a progressive JPEG of 2 MB can take minutes
}

// NewScaler returns a Scaler with the limits above.
func NewScaler() *Scaler {
	return &Scaler{
		cores:   make(chan struct{}, max(1, runtime.NumCPU()-1)),
		memory:  semaphore.NewWeighted(pictureMemory),
		timeout: pictureTimeout,
	}
}

// Scale reads a PNG, JPEG, GIF (its first frame) or WebP from src and returns it upright
// and within width × height pixels, each 1 to maxShrunk. It keeps the aspect ratio, and
// neither crops nor enlarges. The result is a PNG if it has transparency, otherwise a JPEG;
// equal inputs give equal results. Errors: BadMedia for any other format; Invalid or
// TooLarge, on the field "file", for a picture that cannot be decoded or costs too much;
// Busy when ctx ends; an error of src is returned as it is.
func (p *Scaler) Scale(ctx context.Context, src io.ReadSeeker,
	width, height int) (data []byte, mediaType string, err error) {
	if width < 1 || height < 1 || width > maxShrunk || height > maxShrunk {
		return nil, "", fmt.Errorf("shrink a picture to %d × %d", width, height)
	}

	in := &pictureSource{src: src}
	var pic *picture
	err = p.withTimeout(ctx, in, func() error {
		pic, err = inspectPicture(in)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	if err := pic.affordable(width, height); err != nil {
		return nil, "", err
	}

	release, err := p.Admit(ctx, int64(pic.memory(width, height)))
	if err != nil {
		return nil, "", err
	}

	defer release()
	var small *image.RGBA
	err = p.withTimeout(ctx, in, func() error {
		small, err = pic.shrunk(in, width, height)
		return err
	})
	if err != nil {
		return nil, "", err
	}

	return encodePicture(small)
}

// withTimeout runs read with the timeout for one picture.
func (p *Scaler) withTimeout(ctx context.Context, in *pictureSource, read func() error) error {
	limited, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	in.ctx = limited
	if err := read(); err != nil {
		return in.fault(ctx, err)
	}
	return nil
}

// Admit waits until a picture that needs that many bytes may be decoded. It acquires
// memory before a core, so that a picture waiting for memory does not block a core.
func (p *Scaler) Admit(ctx context.Context, bytes int64) (release func(), err error) {
	if err := p.memory.Acquire(ctx, bytes); err != nil {
		return nil, pictureBusy(ctx)
	}
	select {
	case p.cores <- struct{}{}:
		return func() { <-p.cores; p.memory.Release(bytes) }, nil
	case <-ctx.Done():
		p.memory.Release(bytes)
		return nil, pictureBusy(ctx)
	}
}

func pictureBusy(ctx context.Context) error {
	return errs.New(errs.Busy, "too many images are being processed; try again in a moment").After(time.Second).Because(context.Cause(ctx))
}

// shrunk decodes the picture and scales it. A panic of the decoder means that the data
// is damaged.
func (pic *picture) shrunk(in *pictureSource, width, height int) (small *image.RGBA, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			small, err = nil, errs.Field(errs.Invalid, "file", pictureIsDamaged).Because(fmt.Errorf("decoding a %s: panic: %v", pic.format.name, cause))
		}
	}()

	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}

	img, err := pic.format.decode(in)
	if err != nil {
		return nil, errs.Field(errs.Invalid, "file", pictureIsDamaged).Because(err)
	}

	b := img.Bounds()
	if b.Empty() || b.Dx() > pic.width || b.Dy() > pic.height {
		return nil,
			errs.Field(errs.Invalid, "file", pictureIsDamaged).Because(fmt.Errorf("a %s of %d × %d has become %v", pic.format.name, pic.width, pic.height, b))
	}
	if turnsSideways(pic.orientation) {
		width, height = height, width
	}

	w, h := fitInto(b.Dx(), b.Dy(), width, height)
	return orient(scalePicture(img, w, h), pic.orientation), nil
}

func encodePicture(img *image.RGBA) (data []byte, mediaType string, err error) {
	var out bytes.Buffer
	if img.Opaque() {
		mediaType, err = jpegMediaType, jpeg.Encode(&out, img,
			&jpeg.Options{Quality: pictureQuality})
	} else {
		mediaType, err = pngMediaType, png.Encode(&out, img)
	}
	if err != nil {
		return nil, "", fmt.Errorf("encode %s: %w", mediaType, err)
	}
	return out.Bytes(), mediaType, nil
}

// pictureSource is the input. Decoders cannot be cancelled; instead, reads fail once
// the context has ended.
type pictureSource struct {
	ctx context.Context
	src io.ReadSeeker
	err error // first error of src itself, which is not a fault of the picture
}

func (in *pictureSource) Read(b []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := in.src.Read(b)
	if err != nil && err != io.EOF && in.err == nil {
		in.err = err
	}
	return n, err
}

func (in *pictureSource) Seek(offset int64, whence int) (int64, error) {
	at, err := in.src.Seek(offset, whence)
	if err != nil && in.err == nil {
		in.err = err
	}
	return at, err
}

// fault returns the error to report for err: a read error, Busy if ctx has ended,
// Invalid after the timeout, or err itself for an invalid picture.
func (in *pictureSource) fault(ctx context.Context, err error) error {
	switch {
	case in.err != nil:
		return fmt.Errorf("read a picture: %w", in.err)
	case ctx.Err() != nil:
		return pictureBusy(ctx)
	case in.ctx.Err() != nil:
		return errs.Field(errs.Invalid, "file", "the image takes too long to decode").Because(err)
	}
	return err
}
