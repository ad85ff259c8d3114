package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"golang.org/x/image/draw"
)

// The colours of the quarters of a test picture, whose left upper one is red.
var (
	red   = color.RGBA{255, 0, 0, 255}
	lime  = color.RGBA{0, 255, 0, 255}
	blue  = color.RGBA{0, 0, 255, 255}
	white = color.RGBA{255, 255, 255, 255}
	hole  = color.RGBA{}
)

// What the standard library cannot encode: the quarters in 64 × 32 pixels.
const (
	lossyWebP       = "UklGRoAAAABXRUJQVlA4IHQAAAAwBgCdASpAACAAPi0QhkKhoQ36AAwBYlkAMkNQX4B+AGwW8A/AD9iP6rzhmgXYD9ds77DVlr+3ggiAAP74fCfG4G1SVQp0DWbafgZOm4kUpi/U0wV5kY0/2f/a90HiPffilV3cu//I5yaECyKxFv0estUgAA=="
	losslessWebP    = "UklGRjgAAABXRUJQVlA4TCwAAAAvP8AHAB8gEEjeHzqN+RcQFPwf3fxHZA+ASIDEk570pIlMjej/BAyLvoJHXw=="
	alphaWebP       = "UklGRq4AAABXRUJQVlA4WAoAAAAQAAAAPwAAHwAAQUxQSBcAAAABDzD/ERGCTNom/k1XwXZH9H8CuhB2AQBWUDggcAAAADAFAJ0BKkAAIAA+tUicS6ckIqG36ADgFolkAMAlADUqegfir+QHRjb3nfoOEhPt7E2QAP7svYzs6+Ed+ud79UUrkpC68PRL2Sl/Nvubfc2++dK1Z8/0RzuR9hs/8z0k+fm0+EZSabiKiMCTQiCoAAA="
	cmykJPEG        = "/9j/7gAOQWRvYmUAZAAAAAAC/9sAQwAQCwwODAoQDg0OEhEQExgoGhgWFhgxIyUdKDozPTw5Mzg3QEhcTkBEV0U3OFBtUVdfYmdoZz5NcXlwZHhcZWdj/9sAQwEREhIYFRgvGhovY0I4QmNjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2Nj/8AAFAgAIABABAEiAAIRAQMRAQQiAP/EABcAAQEBAQAAAAAAAAAAAAAAAAAGBwX/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAGAEBAAMBAAAAAAAAAAAAAAAAAAUGBwT/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADgQBAAIRAxEEAAA/AO0AlFDaAAAAAJkBKNuAAAABegMbVcAAAAGHAL45QAAAAf/Z"
	progressiveJPEG = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARESEhgVGC8aGi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wgARCAAgAEADASIAAhEBAxEB/8QAFwABAQEBAAAAAAAAAAAAAAAAAAUEBv/EABgBAQADAQAAAAAAAAAAAAAAAAAEBQYD/9oADAMBAAIQAxAAAAHEIt8BSEXEAQRsrQDuRQ9QP//EABQQAQAAAAAAAAAAAAAAAAAAAFD/2gAIAQEAAQUCA//EABQRAQAAAAAAAAAAAAAAAAAAADD/2gAIAQMBAT8BD//EABQRAQAAAAAAAAAAAAAAAAAAADD/2gAIAQIBAT8BD//EABQQAQAAAAAAAAAAAAAAAAAAAFD/2gAIAQEABj8CA//EABQQAQAAAAAAAAAAAAAAAAAAAFD/2gAIAQEAAT8hA//aAAwDAQACAAMAAAAQAA88AAAA/8QAFBEBAAAAAAAAAAAAAAAAAAAAMP/aAAgBAwEBPxAP/8QAFBEBAAAAAAAAAAAAAAAAAAAAMP/aAAgBAgEBPxAP/8QAFBABAAAAAAAAAAAAAAAAAAAAUP/aAAgBAQABPxAD/9k="
)

func fixture(t testing.TB, text string) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(text)
	must(t, err)
	return data
}

// quarters is a picture of four colours: left and right above, left and right below.
func quarters(w, h int, colours ...color.Color) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i, r := range []image.Rectangle{image.Rect(0, 0, w/2, h/2), image.Rect(w/2, 0, w, h/2), image.Rect(0, h/2, w/2, h), image.Rect(w/2, h/2, w, h)} {
		draw.Draw(img, r, image.NewUniform(colours[i]), image.Point{}, draw.Src)
	}
	return img
}

func asPNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	must(t, png.Encode(&out, img))
	return out.Bytes()
}

func asJPEG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	must(t, jpeg.Encode(&out, img, &jpeg.Options{Quality: 95}))
	return out.Bytes()
}

func asGIF(t testing.TB, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	must(t, gif.Encode(&out, img, nil))
	return out.Bytes()
}

// converted is a picture in another colour model.
func converted[T draw.Image](to T, img image.Image) T {
	draw.Draw(to, to.Bounds(), img, img.Bounds().Min, draw.Src)
	return to
}

func joined(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// A chunk of a png, and a png with chunks behind its header and before its end.
func pngChunk(kind string, data []byte) []byte {
	body := joined([]byte(kind), data)
	return joined(binary.BigEndian.AppendUint32(nil, uint32(len(data))), body, binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(body)))
}

func inPNG(data []byte, chunks ...[]byte) []byte {
	const header = 8 + 12 + 13
	return joined(data[:header], joined(chunks...), data[header:])
}

func pngHeader(w, h uint32, depth, model, interlace byte) []byte {
	ihdr := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	return joined([]byte("\x89PNG\r\n\x1a\n"), pngChunk("IHDR", append(ihdr, depth, model, 0, 0, interlace)))
}

// A segment of a jpeg, and a jpeg with segments behind its beginning.
func jpegSegment(marker byte, data []byte) []byte {
	return joined([]byte{0xFF, marker}, binary.BigEndian.AppendUint16(nil, uint16(len(data)+2)), data)
}

func inJPEG(data []byte, segments ...[]byte) []byte {
	return joined(data[:2], joined(segments...), data[2:])
}

// jpegSized is a jpeg that claims another size.
func jpegSized(t testing.TB, data []byte, w, h uint16) []byte {
	t.Helper()
	data = bytes.Clone(data)
	at := max(bytes.Index(data, []byte{0xFF, 0xC0}), bytes.Index(data, []byte{0xFF, 0xC2}))
	if at < 0 {
		t.Fatal("no frame in the jpeg")
	}
	binary.BigEndian.PutUint16(data[at+5:], h)
	binary.BigEndian.PutUint16(data[at+7:], w)
	return data
}

// A chunk of a webp, a webp of chunks, and the chunks of a webp.
func webpChunk(kind string, data []byte) []byte {
	return joined([]byte(kind), binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data, make([]byte, len(data)&1))
}

func webpOf(chunks ...[]byte) []byte {
	body := joined(append([][]byte{[]byte("WEBP")}, chunks...)...)
	return joined([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body)
}

func webpChunks(data []byte) []byte { return data[12:] }

func webpCanvas(flags byte, w, h int) []byte {
	return webpChunk("VP8X", []byte{flags, 0, 0, 0, byte(w - 1), byte((w - 1) >> 8), byte((w - 1) >> 16), byte(h - 1), byte((h - 1) >> 8), byte((h - 1) >> 16)})
}

// gifHeader is a gif of that size with two colours, before its first block.
func gifHeader(w, h uint16) []byte {
	screen := binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16([]byte("GIF89a"), w), h)
	return append(screen, 0x80, 0, 0, 0, 0, 0, 255, 255, 255)
}

func gifFrame(x, y, w, h uint16, packed ...byte) []byte {
	frame := []byte{0x2C}
	for _, n := range []uint16{x, y, w, h} {
		frame = binary.LittleEndian.AppendUint16(frame, n)
	}
	return joined(frame, []byte{0, 2}, packed, []byte{0, 0x3B})
}

// gifBlocks are data as a gif has it behind a label.
func gifBlocks(data []byte) (out []byte) {
	for len(data) > 0 {
		n := min(255, len(data))
		out = append(append(out, byte(n)), data[:n]...)
		data = data[n:]
	}
	return append(out, 0)
}

// inGIF puts blocks behind the header of a gif that has a colour table.
func inGIF(data []byte, blocks ...[]byte) []byte {
	header := 13
	if data[10]&0x80 != 0 {
		header += 3 << (1 + data[10]&7)
	}
	return joined(data[:header], joined(blocks...), data[header:])
}

// exifOf is EXIF with an orientation and what else is given.
func exifOf(order binary.AppendByteOrder, orientation uint16, rest string) []byte {
	mark := map[bool]string{true: "II", false: "MM"}[order.String() == "LittleEndian"]
	out := order.AppendUint32(order.AppendUint16([]byte(mark), 42), 8)
	out = order.AppendUint16(out, 2)
	out = order.AppendUint32(order.AppendUint16(order.AppendUint16(out, 0x0100), 4), 1)
	out = order.AppendUint32(out, 7)
	out = order.AppendUint32(order.AppendUint16(order.AppendUint16(out, 0x0112), 3), 1)
	out = order.AppendUint16(order.AppendUint16(out, orientation), 0)
	return append(order.AppendUint32(out, 0), rest...)
}

func shrinkBytes(t testing.TB, data []byte, width, height int) ([]byte, string, error) {
	t.Helper()
	return newPictures(newLimit("pictures", maxPictures, "")).shrink(context.Background(), bytes.NewReader(data), width, height)
}

// shrunkTo is the result of what must succeed.
func shrunkTo(t testing.TB, data []byte, width, height int) (image.Image, string) {
	t.Helper()
	out, mediaType, err := shrinkBytes(t, data, width, height)
	must(t, err)
	return checkShrunk(t, out, mediaType, width, height), mediaType
}
