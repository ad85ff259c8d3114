package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"reeve/store/errs"
)

// pictureFormat is an accepted format. Package image is not used to detect it, since
// its list grows with the packages that a program links.
type pictureFormat struct {
	name   string
	begins func(head []byte) bool
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
	// look reads properties that the decoders do not report: the orientation, and the memory that
	// decoding needs besides the pixels. in is at the start of a picture of size bytes.
	look func(pic *picture, in io.ReadSeeker, size int64) error
}

const pictureHead = 12 // bytes that identify the format

var pictureFormats = []pictureFormat{
	{"png", beginsWith("\x89PNG\r\n\x1a\n"), png.DecodeConfig, png.Decode, lookAtPNG},
	{"jpeg", beginsWith("\xff\xd8\xff"), jpeg.DecodeConfig, jpeg.Decode, lookAtJPEG},
	{"gif", beginsWith("GIF87a", "GIF89a"), gif.DecodeConfig, gif.Decode,
		func(*picture, io.ReadSeeker, int64) error {
			return nil
		}},
	{"webp", func(head []byte) bool {
		return len(head) == pictureHead && string(head[:4]) == "RIFF" && string(head[8:]) == "WEBP"
	}, webp.DecodeConfig, decodeWebP, lookAtWebP},
}

func beginsWith(marks ...string) func([]byte) bool {
	return func(head []byte) bool {
		for _, mark := range marks {
			if bytes.HasPrefix(head, []byte(mark)) {
				return true
			}
		}
		return false
	}
}

// picture has the properties in the headers, before any pixel is decoded.
type picture struct {
	format        *pictureFormat
	width, height int // size; for a GIF, of its screen, which its frame cannot exceed
	model         color.Model
	orientation   int     // EXIF orientation, 1 to 8
	progressive   bool    // progressive JPEG
	samples       float64 // samples of a JPEG per pixel: less than one for each subsampled component
	interlaced    bool    // interlaced PNG
	transparent   bool    // PNG with tRNS: the decoder adds alpha
	opaqueLossy   bool    // opaque lossy WebP
	size          int     // bytes
}

// inspectPicture reads the headers.
func inspectPicture(in *pictureSource) (*picture, error) {
	size, err := in.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	if size > maxPictureBytes {
		return nil, errs.Field(errs.TooLarge, "file", "an image must be at most %d MiB",
			maxPictureBytes>>20)
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}

	head := make([]byte, pictureHead)
	n, err := io.ReadFull(in, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return nil, err
	}

	for i := range pictureFormats {
		if format := &pictureFormats[i]; format.begins(head[:n]) {
			return format.inspect(in, size)
		}
	}

	return nil, errs.Field(errs.BadMedia, "file", "must be a PNG, JPEG, GIF or WebP image")
}

func (format *pictureFormat) inspect(in *pictureSource, size int64) (*picture, error) {
	pic := &picture{format: format, orientation: upright, size: int(size)}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if err := format.look(pic, in, size); err != nil {
		return nil, err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}

	config, err := format.config(in)
	if err != nil {
		return nil, errs.Field(errs.Invalid, "file", pictureIsDamaged).Because(err)
	}

	pic.width, pic.height, pic.model = config.Width, config.Height, config.ColorModel
	return pic, nil
}

// affordable rejects a picture with implausible dimensions, or one that needs more than
// the whole memory budget to be scaled to width × height.
func (pic *picture) affordable(width, height int) error {
	switch w, h := pic.width, pic.height; {
	case w < 1 || h < 1:
		return errs.Field(errs.Invalid, "file", "the image has no pixels")
	case w > maxPictureSide || h > maxPictureSide:
		return errs.Field(errs.Invalid, "file",
			"the image is %d × %d pixels; at most %d are allowed on a side", w, h, maxPictureSide)
	case w*h > maxPixels:
		return errs.Field(errs.Invalid, "file",
			"the image is %d × %d pixels; at most %d million are allowed in total", w, h,
			maxPixels/1_000_000)
	case pic.memory(width, height) > pictureMemory:
		return errs.Field(errs.Invalid, "file",
			"the image is %d × %d pixels and needs %d MiB of memory to decode; at most %d are allowed. Save it smaller, with 8 bits per channel, or not progressive",
			w, h, pic.memory(width, height)>>20, pictureMemory>>20)
	}
	return nil
}

// memory returns about how many bytes decoding and scaling take at most.
func (pic *picture) memory(width, height int) int {
	const mib, lineBytes, perResult = 1 << 20, 16, 4 * 32 // see scalePicture
	scaling := mib + lineBytes*pic.width + perResult*min(width*height, pic.width*pic.height)
	return scaling + int(pic.perPixel()*float64(pic.width*pic.height)) + pic.tables()
}

// perPixel returns the bytes that the decoder needs per pixel.
func (pic *picture) perPixel() float64 {
	switch pic.format.name {
	case "gif":
		return 2 // one more while interlaced lines are reordered
	case "webp":
		if pic.opaqueLossy {
			return 2
		}
		return 14
	case "png":
		bytes := pic.pngBytes()
		if pic.interlaced {
			bytes *= 1.5 // the largest pass besides the whole
		}
		return bytes
	}

	bytes := pic.samples
	if pic.progressive {
		bytes *= 5 // samples, and a 32-bit coefficient for each
	}
	if pic.model != color.YCbCrModel && pic.model != color.GrayModel {
		bytes += 4 // RGB and CMYK are converted
	}

	return bytes
}

// pngBytes returns the size of a decoded pixel in bytes, by the depth of its channels.
func (pic *picture) pngBytes() float64 {
	switch pic.model {
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	case color.Gray16Model:
		if pic.transparent {
			return 8
		}
		return 2
	case color.RGBAModel, color.NRGBAModel:
		return 4
	case color.GrayModel:
		if pic.transparent {
			return 4
		}
	}
	return 1 // including palettes
}

// tables returns the bytes that do not depend on the pixels alone. In a lossless WebP,
// each block of 16 pixels can have Huffman trees of its own, up to 2,600 times; a byte
// of the file defines at most 400 of them.
func (pic *picture) tables() int {
	if pic.format.name != "webp" || pic.opaqueLossy {
		return 0
	}
	return min(400*pic.size, 53_000*min(pic.width*pic.height/16+1, 2600))
}

// lookAtPNG reads the chunks (PNG, third edition, 5.3) for properties that the header does not
// have.
func lookAtPNG(pic *picture, in io.ReadSeeker, _ int64) error {
	const header, checksum = 8, 4
	chunk := make([]byte, header)
	at := int64(len("\x89PNG\r\n\x1a\n"))
	for chunks := 0; ; chunks++ {
		if chunks == maxPictureChunks {
			pic.transparent = true // assume the expensive case: the chunk may follow
			return nil
		}
		if _, err := in.Seek(at, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.ReadFull(in, chunk); err != nil {
			return nil // the decoder reports what is missing
		}

		length := int64(binary.BigEndian.Uint32(chunk))
		switch string(chunk[4:]) {
		case "eXIf":
			pic.orientation = readOrientation(in, length)
		case "tRNS":
			pic.transparent = true
		case "IHDR":
			var header [13]byte // the last byte is the interlace method
			if _, err := io.ReadFull(in, header[:]); err != nil {
				return nil
			}
			pic.interlaced = pic.interlaced || header[12] != 0
		case "IEND":
			return nil
		}

		at += header + length + checksum
	}
}

// lookAtWebP reads the chunks of the RIFF container (RFC 9649, 2.3 to 2.7) and rejects
// a file that claims more bytes than it has: the decoder would allocate memory for all
// of them.
func lookAtWebP(pic *picture, in io.ReadSeeker, size int64) error {
	const header, animated = 8, 2
	head := make([]byte, pictureHead)
	if _, err := io.ReadFull(in, head); err != nil {
		return err
	}

	end := header + int64(binary.LittleEndian.Uint32(head[4:]))
	if end > size {
		return errs.Field(errs.Invalid, "file", pictureIsDamaged)
	}

	plain := true // no alpha seen so far
	at := int64(pictureHead)
	for range maxPictureChunks {
		if at >= end {
			return nil
		}
		if _, err := in.Seek(at, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.ReadFull(in, head[:header+1]); err != nil {
			return nil // the decoder reports what is missing
		}

		length := int64(binary.LittleEndian.Uint32(head[4:]))
		switch string(head[:4]) {
		case "VP8 ", "VP8L": // the first of these is the picture
			pic.opaqueLossy = pic.opaqueLossy || plain && string(head[:4]) == "VP8 "
			plain = false
		case "ALPH":
			plain, pic.opaqueLossy = false, false
		case "VP8X":
			if head[header]&animated != 0 {
				return errs.Field(errs.BadMedia, "file", "animated WebP images are not supported")
			}
		case "EXIF":
			if _, err := in.Seek(at+header, io.SeekStart); err != nil {
				return err
			}
			pic.orientation = readOrientation(in, length)
			return nil
		}

		at += header + length + length&1
	}

	return nil
}

// decodeWebP stretches the colours of a lossy WebP. In VP8, black is 16 and white is
// 235 (ITU-R BT.601, as in RFC 9649, 2.5). The decoder returns its planes as an
// image.YCbCr, in which they are 0 and 255 as in JPEG: white would be grey.
func decodeWebP(in io.Reader) (image.Image, error) {
	img, err := webp.Decode(in)
	if err != nil {
		return nil, err
	}
	switch img := img.(type) {
	case *image.YCbCr:
		stretchColours(img)
	case *image.NYCbCrA:
		stretchColours(&img.YCbCr)
	}
	return img, nil
}

func stretchColours(img *image.YCbCr) {
	var luma, chroma [256]uint8
	for i := range 256 {
		luma[i] = uint8(min(max((2*255*(i-16)+219)/(2*219), 0), 255))
		chroma[i] = uint8(min(max((2*255*(i-16)+224)/(2*224), 0), 255))
	}
	for plane, table := range map[*[]uint8]*[256]uint8{
		&img.Y:  &luma,
		&img.Cb: &chroma,
		&img.Cr: &chroma,
	} {
		for i, value := range *plane {
			(*plane)[i] = table[value]
		}
	}
}
