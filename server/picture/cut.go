package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
)

// cutJPEG keeps the segments (ITU T.81, B.1.1) that decoding needs: tables, frames and
// scans, JFIF, color profiles and Adobe's color transform. It stops at the end of the
// image: cameras append further images, with EXIF of their own.
func cutJPEG(c *cutter) error {
	const soi, eoi, sos, tem, app0, app1, app2, app14, app15, com = 0xD8, 0xD9, 0xDA, 0x01, 0xE0, 0xE1, 0xE2, 0xEE, 0xEF, 0xFE
	for {
		lead, err := c.byte()
		if err != nil {
			return err
		}
		if lead != 0xFF {
			continue // decoders skip what is not a marker
		}

		start, marker := c.at-1, lead
		for marker == 0xFF {
			start = c.at - 1
			if marker, err = c.byte(); err != nil {
				return err
			}
		}

		switch {
		case marker == soi || marker == tem || marker >= 0xD0 && marker <= 0xD7:
			c.keep(start)
			continue
		case marker == eoi:
			c.keep(start)
			return nil
		case marker < 0xC0:
			continue // not a marker
		}

		head, err := c.next(2)
		if err != nil {
			return err
		}

		length := int64(binary.BigEndian.Uint16(head)) - 2
		if length < 0 {
			continue
		}

		name := ""
		if marker >= app0 && marker <= app15 {
			peeked, _ := c.r.Peek(int(min(length, 12))) // short at the end of the file
			name = string(peeked)
		}

		switch {
		case marker == app1 && strings.HasPrefix(name, exifMark):
			exif, err := c.exif(length)
			if err != nil {
				return err
			}
			if exif != nil {
				segment := binary.BigEndian.AppendUint16([]byte{0xFF, app1},
					uint16(2+len(exifMark)+len(exif)))
				c.add(slices.Concat(segment, []byte(exifMark), exif))
			}
			continue
		case marker == app0 &&
			strings.HasPrefix(name, "JFIF\x00"), marker == app2 &&
			name == "ICC_PROFILE\x00", marker == app14 && strings.HasPrefix(name, "Adobe"),
			marker < app0 && marker != 0xC8:
		default:
			if err := c.skip(length); err != nil {
				return err
			}
			continue
		}

		if err := c.skip(length); err != nil {
			return err
		}
		if marker == sos {
			if err := c.passScan(); err != nil {
				c.keep(start) // a truncated picture is kept
				return err
			}
		}

		c.keep(start)
	}
}

// passScan skips the compressed data after a scan's header, up to the next marker. In
// the data, 0xFF is followed by 0 or by the number of a restart marker.
func (c *cutter) passScan() error {
	for {
		next, err := c.r.Peek(2)
		if len(next) < 2 {
			c.skip(int64(len(next)))
			return err
		}
		if next[0] == 0xFF && next[1] != 0 && next[1] != 0xFF &&
			(next[1] < 0xD0 || next[1] > 0xD7) {
			return nil
		}

		buffered, _ := c.r.Peek(c.r.Buffered())
		n := bytes.IndexByte(buffered[1:], 0xFF) + 1
		if n == 0 {
			n = len(buffered)
		}
		if err := c.skip(int64(n)); err != nil {
			return err
		}
	}
}

// pngChunks are the chunks that determine how the picture looks (PNG, third edition,
// 11).
var pngChunks = []string{"IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT",
	"sRGB", "cICP", "mDCV", "cLLI", "bKGD", "hIST", "pHYs", "sPLT", "acTL", "fcTL", "fdAT"}

// cutPNG keeps the chunks of pngChunks, up to IEND.
func cutPNG(c *cutter) error {
	const signature, frame = 8, 12 // a chunk has a length, a name and a checksum of 4 bytes
	if err := c.skip(signature); err != nil {
		return err
	}

	c.keep(0)
	for {
		start := c.at
		head, err := c.next(8)
		if err != nil {
			return err
		}

		length, name := int64(binary.BigEndian.Uint32(head)), string(head[4:])
		if name == "eXIf" {
			exif, err := c.exif(length)
			if err != nil {
				return err
			}
			if exif != nil {
				chunk := append(binary.BigEndian.AppendUint32(nil, uint32(len(exif))),
					name+string(exif)...)
				c.add(binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:])))
			}
			if err := c.skip(frame - 8); err != nil {
				return err
			}
			continue
		}

		err = c.skip(length + frame - 8)
		if slices.Contains(pngChunks, name) {
			c.keep(start)
		}
		if err != nil || name == "IEND" {
			return err
		}
	}
}

// gifExtensions are the applications whose blocks determine how the picture looks.
var gifExtensions = []string{"NETSCAPE2.0", "ANIMEXTS1.0", "ICCRGBG1012"}

// cutGIF keeps the images and their sequence (GIF 89a), and drops comments, texts and
// the blocks of other applications.
func cutGIF(c *cutter) error {
	const extension, picture, trailer, control, application = 0x21, 0x2C, 0x3B, 0xF9, 0xFF
	head, err := c.next(13)
	if err != nil {
		return err
	}

	err = c.skip(colorTable(head[10]))
	c.keep(0)
	for err == nil {
		start, kept := c.at, true
		var kind, label byte
		if kind, err = c.byte(); err != nil {
			return err
		}

		switch kind {
		case picture:
			if head, err = c.next(9); err == nil {
				err = c.skip(colorTable(head[8]) + 1)
			}
		case extension:
			if label, err = c.byte(); err != nil {
				return err
			}
			name, _ := c.r.Peek(12) // short at the end of the file
			kept = label == control ||
				label == application && len(name) == 12 &&
					slices.Contains(gifExtensions, string(name[1:]))
		default:
			if kind == trailer {
				c.keep(start)
			}
			return nil // data after the end is not part of the picture
		}

		for length := byte(1); err == nil && length > 0; {
			if length, err = c.byte(); err == nil {
				err = c.skip(int64(length))
			}
		}

		if kept {
			c.keep(start)
		}
	}

	return err
}

// colorTable returns the size in bytes of the color table that the flags describe.
func colorTable(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// cutWebP keeps the chunks (WebP Container Specification) of images, and corrects the
// size and the flags in the header.
func cutWebP(c *cutter) error {
	const flagEXIF, flagXMP, extended = 0x08, 0x04, 10
	riff, err := c.next(12)
	if err != nil {
		return err
	}

	end := min(c.size, 8+int64(binary.LittleEndian.Uint32(riff[4:])))
	var flags []byte // flags of the extended header
	c.add(riff)
	for err == nil && c.at+8 <= end {
		start := c.at
		var head []byte
		if head, err = c.next(8); err != nil {
			break
		}

		name, size := string(head[:4]), int64(binary.LittleEndian.Uint32(head[4:]))
		padded := size + size&1
		switch name {
		case "VP8X":
			if size != extended || flags != nil {
				return ErrNotCleanable
			}
			var body []byte
			if body, err = c.next(extended); err == nil {
				own := append(head, body...)
				flags = own[8:9]
				flags[0] &^= flagEXIF | flagXMP
				c.add(own)
			}
		case "EXIF":
			var exif []byte
			if exif, err = c.exif(padded); exif != nil && flags != nil {
				flags[0] |= flagEXIF
				c.add(append(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(exif))),
					exif...))
			}
		case "ANMF":
			if err = c.passFrame(min(c.at+padded, end)); err == ErrNotCleanable {
				return err
			}
			c.keep(start)
		case "VP8 ", "VP8L", "ALPH", "ANIM", "ICCP":
			err = c.skip(min(padded, end-c.at))
			c.keep(start)
		default:
			err = c.skip(padded)
		}
	}

	total := int64(-8)
	for _, p := range c.pieces {
		total += p.Size
	}

	binary.LittleEndian.PutUint32(riff[4:], uint32(total))
	return err
}

// passFrame skips a frame of an animation, which may contain only an image.
func (c *cutter) passFrame(end int64) error {
	const head = 16
	for err := c.skip(head); c.at < end; {
		var chunk []byte
		if err == nil {
			chunk, err = c.next(8)
		}
		if err != nil {
			return err
		}
		if name := string(chunk[:4]); name != "ALPH" && name != "VP8 " && name != "VP8L" {
			return ErrNotCleanable
		}
		size := int64(binary.LittleEndian.Uint32(chunk[4:]))
		err = c.skip(min(size+size&1, end-c.at))
	}
	return nil
}
