package server

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

// pictureFormat is a kind of picture that is accepted. They are told apart here
// and not by package image, whose list grows with whatever a program links.
type pictureFormat struct {
	name   string
	begins func(head []byte) bool
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
	// look reads what the decoders do not tell: how the picture is to be turned and
	// what its decoding needs beside its pixels. It is at the beginning of a picture
	// of that many bytes.
	look func(pic *picture, in io.ReadSeeker, size int64) error
}

const pictureHead = 12 // bytes that tell the formats apart

var pictureFormats = []pictureFormat{
	{"png", beginsWith("\x89PNG\r\n\x1a\n"), png.DecodeConfig, png.Decode, lookAtPNG},
	{"jpeg", beginsWith("\xff\xd8\xff"), jpeg.DecodeConfig, jpeg.Decode, lookAtJPEG},
	{"gif", beginsWith("GIF87a", "GIF89a"), gif.DecodeConfig, gif.Decode, func(*picture, io.ReadSeeker, int64) error { return nil }},
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

// picture is what is known before any pixel is decoded.
type picture struct {
	format        *pictureFormat
	width, height int // of a gif, of its screen, which its frame cannot exceed
	model         color.Model
	orientation   int  // as in EXIF, 1 to 8
	progressive   bool // of a jpeg
	size          int  // in bytes
}

// inspectPicture reads the headers.
func inspectPicture(in *pictureSource) (*picture, error) {
	size, err := in.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	if size > maxPictureBytes {
		return nil, errs.Field(errs.TooLarge, "file", "a picture may have at most %d MiB", maxPictureBytes>>20)
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
	return nil, errs.Field(errs.BadMedia, "file", "must be a png, jpeg, gif or webp picture")
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

// affordable refuses what nobody's photograph is and what a decoder would need
// too much memory for.
func (pic *picture) affordable() error {
	switch w, h := pic.width, pic.height; {
	case w < 1 || h < 1:
		return errs.Field(errs.Invalid, "file", "the picture has no pixels")
	case w > maxPictureSide || h > maxPictureSide:
		return errs.Field(errs.Invalid, "file", "the picture is %d × %d pixels, at most %d are accepted on a side", w, h, maxPictureSide)
	case w*h > maxPixels:
		return errs.Field(errs.Invalid, "file", "the picture is %d × %d pixels, at most %d million in all are accepted", w, h, maxPixels/1_000_000)
	case w*h > maxProgressive && pic.progressive:
		return errs.Field(errs.Invalid, "file", "the picture is %d × %d pixels, at most %d million are accepted in a progressive jpeg", w, h, maxProgressive/1_000_000)
	}
	return nil
}

// memory is how many bytes decoding and scaling take at most, about.
func (pic *picture) memory(width, height int) int {
	pixels := pic.width * pic.height
	scaling := 1<<20 + 16*pic.width + 4*32*width*height
	switch {
	case pic.format.name == "gif":
		return scaling + 2*pixels // one more while lines are brought into their order
	case pic.format.name == "webp":
		// Without loss, 16 pixels can have Huffman trees of their own, up to 2,600
		// times; a byte of the file makes at most 400 of them.
		return scaling + 14*pixels + min(400*pic.size, 53_000*min(pixels/16+1, 2600))
	case pic.format.name == "png" && (pic.model == color.RGBA64Model || pic.model == color.NRGBA64Model):
		return scaling + 12*pixels // half of them twice when interlaced
	case pic.format.name == "png":
		return scaling + 6*pixels
	case pic.progressive:
		return scaling + 24*pixels // four planes, a 32-bit coefficient each, and their CMYK
	}
	return scaling + 8*pixels
}

// lookAtPNG walks over the chunks (PNG, third edition, 5.3) to eXIf.
func lookAtPNG(pic *picture, in io.ReadSeeker, _ int64) error {
	const header, checksum = 8, 4
	chunk := make([]byte, header)
	at := int64(len("\x89PNG\r\n\x1a\n"))
	for range maxPictureChunks {
		if _, err := in.Seek(at, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.ReadFull(in, chunk); err != nil {
			return nil // the decoder says what is missing
		}
		length := int64(binary.BigEndian.Uint32(chunk))
		switch string(chunk[4:]) {
		case "eXIf":
			pic.orientation = readOrientation(in, length)
			return nil
		case "IEND":
			return nil
		}
		at += header + length + checksum
	}
	return nil
}

// lookAtWebP walks over the chunks of the RIFF container (RFC 9649, 2.3 to 2.7)
// and refuses one that claims more bytes than there are: the decoder would take
// memory for all of them.
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
	at := int64(pictureHead)
	for range maxPictureChunks {
		if at >= end {
			return nil
		}
		if _, err := in.Seek(at, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.ReadFull(in, head[:header+1]); err != nil {
			return nil // the decoder says what is missing
		}
		length := int64(binary.LittleEndian.Uint32(head[4:]))
		switch string(head[:4]) {
		case "VP8X":
			if head[header]&animated != 0 {
				return errs.Field(errs.BadMedia, "file", "an animated webp is not accepted")
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

// decodeWebP stretches the colours of a lossy webp. VP8 has black at 16 and white
// at 235 (ITU-R BT.601, as in RFC 9649, 2.5), and the decoder hands its planes out
// as an image.YCbCr, which has them at 0 and 255 as jpeg does: white would be grey.
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
	for plane, table := range map[*[]uint8]*[256]uint8{&img.Y: &luma, &img.Cb: &chroma, &img.Cr: &chroma} {
		for i, value := range *plane {
			(*plane)[i] = table[value]
		}
	}
}
