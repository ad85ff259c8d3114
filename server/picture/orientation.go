package picture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"image"
	"io"
)

// upright is the orientation of a picture that is stored as it is displayed. The other
// values (TIFF 6.0, page 36; EXIF 2.32, 4.6.4) tell which sides the first row and the
// first column of the stored picture are.
const upright = 1

// turnsSideways reports whether the orientation swaps width and height.
func turnsSideways(orientation int) bool { return orientation >= 5 }

// lookAtJPEG reads the segments (ITU T.81, B.1.1) before the first scan. If it cannot
// parse a JPEG, it assumes the more expensive kind, since the decoder accepts more than
// this parser.
func lookAtJPEG(pic *picture, in io.ReadSeeker, _ int64) error {
	const sof0, sof2, dht, jpg, dac, sos, app1 = 0xC0, 0xC2, 0xC4, 0xC8, 0xCC, 0xDA, 0xE1
	pic.progressive, pic.samples = true, jpegComponents
	r := bufio.NewReader(in)
	if _, err := r.Discard(2); err != nil {
		return nil // the decoder reports what is missing
	}

	for framed, seen := false, false; ; {
		marker, length, ok := nextSegment(r)
		if !ok || marker == sos {
			return nil
		}

		switch {
		case marker == app1 && !seen:
			segment := make([]byte, length)
			if _, err := io.ReadFull(r, segment); err != nil {
				return nil
			}
			if exif, ok := bytes.CutPrefix(segment, []byte(exifMark)); ok {
				pic.orientation, seen = orientationOf(exif), true
			}
			continue
		case marker >= sof0 && marker <= 0xCF && marker != dht && marker != jpg && marker != dac &&
			!framed:
			pic.progressive, framed = marker == sof2, true
			frame := make([]byte, length)
			if _, err := io.ReadFull(r, frame); err != nil {
				return nil
			}
			pic.samples = samplesOf(frame)
			continue
		}

		if _, err := r.Discard(length); err != nil {
			return nil
		}
	}
}

// jpegComponents is the maximum number of samples per pixel of a JPEG: one for each
// component.
const jpegComponents = 4

// samplesOf returns the number of samples per pixel, from a frame header (ITU T.81,
// B.2.2): six bytes, then three per component, with the sampling factors in the second.
func samplesOf(frame []byte) float64 {
	const head, component = 6, 3
	most, sum := 1, 0
	for at := head; at+component <= len(frame); at += component {
		across, down := int(frame[at+1]>>4), int(frame[at+1]&15)
		most, sum = max(most, across*down), sum+across*down
	}
	if len(frame) < head+component || len(frame) > head+jpegComponents*component {
		return jpegComponents // the decoder reports what is wrong
	}
	return float64(sum) / float64(most)
}

// nextSegment reads a marker and the length of its segment.
func nextSegment(r *bufio.Reader) (marker byte, length int, ok bool) {
	lead, err := r.ReadByte()
	for marker = 0xFF; err == nil && marker == 0xFF; {
		marker, err = r.ReadByte() // any number of 0xFF may precede a marker
	}
	var size [2]byte
	if err != nil || lead != 0xFF || marker < 0xC0 || marker >= 0xD0 && marker <= 0xD9 {
		return 0, 0, false
	}
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return 0, 0, false
	}
	length = int(binary.BigEndian.Uint16(size[:])) - len(size)
	return marker, length, length >= 0
}

// exifMark precedes the EXIF in a JPEG, and in some WebPs.
const exifMark = "Exif\x00\x00"

// readOrientation reads EXIF of length bytes. As in a JPEG, only the first 64 KiB
// count.
func readOrientation(in io.Reader, length int64) int {
	exif, err := io.ReadAll(io.LimitReader(in, min(length, 1<<16)))
	if err != nil {
		return upright
	}
	return orientationOf(bytes.TrimPrefix(exif, []byte(exifMark)))
}

// orientationOf finds the tag Orientation in EXIF, which is a TIFF file (TIFF 6.0,
// pages 13 to 16): byte order, 42, offset of the first directory; there a count and 12
// bytes per entry: tag, type, count, value. If the data is invalid, it returns upright.
func orientationOf(exif []byte) int {
	const tagOrientation, typeShort, header, entry = 0x0112, 3, 8, 12
	if len(exif) < header {
		return upright
	}

	var order binary.ByteOrder = binary.BigEndian
	if string(exif[:2]) == "II" {
		order = binary.LittleEndian
	} else if string(exif[:2]) != "MM" {
		return upright
	}

	at := uint64(order.Uint32(exif[4:]))
	if order.Uint16(exif[2:]) != 42 || at+2 > uint64(len(exif)) {
		return upright
	}

	entries := exif[at+2:]
	for range order.Uint16(exif[at:]) {
		if len(entries) < entry {
			return upright
		}
		if order.Uint16(entries) == tagOrientation {
			value := order.Uint16(entries[8:])
			if order.Uint16(entries[2:]) != typeShort || order.Uint32(entries[4:]) != 1 ||
				value < 1 || value > 8 {
				return upright
			}
			return int(value)
		}
		entries = entries[entry:]
	}

	return upright
}

// orient returns the picture turned upright.
func orient(src *image.RGBA, orientation int) *image.RGBA {
	if orientation == upright {
		return src
	}

	w, h := src.Rect.Dx(), src.Rect.Dy()
	right, bottom := w-1, h-1
	dst := image.NewRGBA(src.Rect)
	if turnsSideways(orientation) {
		dst = image.NewRGBA(image.Rect(0, 0, h, w))
	}

	for y := range dst.Rect.Dy() {
		for x := range dst.Rect.Dx() {
			from := [...]image.Point{
				2: {right - x, y}, 3: {right - x, bottom - y}, 4: {x, bottom - y},
				5: {y, x}, 6: {y, bottom - x}, 7: {right - y, bottom - x}, 8: {right - y, x},
			}[orientation]
			copy(dst.Pix[dst.PixOffset(x, y):][:4], src.Pix[src.PixOffset(from.X, from.Y):])
		}
	}

	return dst
}
