// Package picturetest makes pictures for tests: whole, hostile and with metadata.
package picturetest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/draw"
)

// Colours of the quarters of a test picture, the first at the top left.
var (
	Red   = color.RGBA{255, 0, 0, 255}
	Lime  = color.RGBA{0, 255, 0, 255}
	Blue  = color.RGBA{0, 0, 255, 255}
	White = color.RGBA{255, 255, 255, 255}
	Hole  = color.RGBA{}
)

// Pictures that the standard library cannot encode: the quarters in 64 × 32 pixels.
const (
	LossyWebP       = "UklGRoAAAABXRUJQVlA4IHQAAAAwBgCdASpAACAAPi0QhkKhoQ36AAwBYlkAMkNQX4B+AGwW8A/AD9iP6rzhmgXYD9ds77DVlr+3ggiAAP74fCfG4G1SVQp0DWbafgZOm4kUpi/U0wV5kY0/2f/a90HiPffilV3cu//I5yaECyKxFv0estUgAA=="
	LosslessWebP    = "UklGRjgAAABXRUJQVlA4TCwAAAAvP8AHAB8gEEjeHzqN+RcQFPwf3fxHZA+ASIDEk570pIlMjej/BAyLvoJHXw=="
	AlphaWebP       = "UklGRq4AAABXRUJQVlA4WAoAAAAQAAAAPwAAHwAAQUxQSBcAAAABDzD/ERGCTNom/k1XwXZH9H8CuhB2AQBWUDggcAAAADAFAJ0BKkAAIAA+tUicS6ckIqG36ADgFolkAMAlADUqegfir+QHRjb3nfoOEhPt7E2QAP7svYzs6+Ed+ud79UUrkpC68PRL2Sl/Nvubfc2++dK1Z8/0RzuR9hs/8z0k+fm0+EZSabiKiMCTQiCoAAA="
	CMYKJPEG        = "/9j/7gAOQWRvYmUAZAAAAAAC/9sAQwAQCwwODAoQDg0OEhEQExgoGhgWFhgxIyUdKDozPTw5Mzg3QEhcTkBEV0U3OFBtUVdfYmdoZz5NcXlwZHhcZWdj/9sAQwEREhIYFRgvGhovY0I4QmNjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2Nj/8AAFAgAIABABAEiAAIRAQMRAQQiAP/EABcAAQEBAQAAAAAAAAAAAAAAAAAGBwX/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAGAEBAAMBAAAAAAAAAAAAAAAAAAUGBwT/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADgQBAAIRAxEEAAA/AO0AlFDaAAAAAJkBKNuAAAABegMbVcAAAAGHAL45QAAAAf/Z"
	ProgressiveJPEG = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARESEhgVGC8aGi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wgARCAAgAEADASIAAhEBAxEB/8QAFwABAQEBAAAAAAAAAAAAAAAAAAUEBv/EABgBAQADAQAAAAAAAAAAAAAAAAAEBQYD/9oADAMBAAIQAxAAAAHEIt8BSEXEAQRsrQDuRQ9QP//EABQQAQAAAAAAAAAAAAAAAAAAAFD/2gAIAQEAAQUCA//EABQRAQAAAAAAAAAAAAAAAAAAADD/2gAIAQMBAT8BD//EABQRAQAAAAAAAAAAAAAAAAAAADD/2gAIAQIBAT8BD//EABQQAQAAAAAAAAAAAAAAAAAAAFD/2gAIAQEABj8CA//EABQQAQAAAAAAAAAAAAAAAAAAAFD/2gAIAQEAAT8hA//aAAwDAQACAAMAAAAQAA88AAAA/8QAFBEBAAAAAAAAAAAAAAAAAAAAMP/aAAgBAwEBPxAP/8QAFBEBAAAAAAAAAAAAAAAAAAAAMP/aAAgBAgEBPxAP/8QAFBABAAAAAAAAAAAAAAAAAAAAUP/aAAgBAQABPxAD/9k="
)

// Fixture decodes one of the pictures above.
func Fixture(t testing.TB, text string) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(text)
	noErr(t, err)
	return data
}

// Quarters returns a picture of four colours: top left and right, bottom left and
// right.
func Quarters(w, h int, colours ...color.Color) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i, r := range []image.Rectangle{image.Rect(0, 0, w/2, h/2), image.Rect(w/2, 0, w, h/2),
		image.Rect(0, h/2, w/2, h), image.Rect(w/2, h/2, w, h)} {
		draw.Draw(img, r, image.NewUniform(colours[i]), image.Point{}, draw.Src)
	}
	return img
}

func PNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	noErr(t, png.Encode(&out, img))
	return out.Bytes()
}

func JPEG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	noErr(t, jpeg.Encode(&out, img, &jpeg.Options{Quality: 95}))
	return out.Bytes()
}

func GIF(t testing.TB, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	noErr(t, gif.Encode(&out, img, nil))
	return out.Bytes()
}

// Converted copies a picture to another colour model.
func Converted[T draw.Image](to T, img image.Image) T {
	draw.Draw(to, to.Bounds(), img, img.Bounds().Min, draw.Src)
	return to
}

func Join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// PNGChunk returns a chunk of a PNG.
func PNGChunk(kind string, data []byte) []byte {
	body := Join([]byte(kind), data)
	return Join(binary.BigEndian.AppendUint32(nil, uint32(len(data))), body,
		binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(body)))
}

// InPNG inserts chunks between the header of a PNG and the rest.
func InPNG(data []byte, chunks ...[]byte) []byte {
	const header = 8 + 12 + 13
	return Join(data[:header], Join(chunks...), data[header:])
}

func PNGHeader(w, h uint32, depth, model, interlace byte) []byte {
	ihdr := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	return Join([]byte("\x89PNG\r\n\x1a\n"),
		PNGChunk("IHDR", append(ihdr, depth, model, 0, 0, interlace)))
}

// JPEGSegment returns a segment of a JPEG.
func JPEGSegment(marker byte, data []byte) []byte {
	return Join([]byte{0xFF, marker}, binary.BigEndian.AppendUint16(nil, uint16(len(data)+2)), data)
}

// InJPEG inserts segments after the start of a JPEG.
func InJPEG(data []byte, segments ...[]byte) []byte {
	return Join(data[:2], Join(segments...), data[2:])
}

// JPEGSized returns a JPEG that claims another size.
func JPEGSized(t testing.TB, data []byte, w, h uint16) []byte {
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

// WebPChunk returns a chunk of a WebP.
func WebPChunk(kind string, data []byte) []byte {
	return Join([]byte(kind), binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data,
		make([]byte, len(data)&1))
}

// WebP returns a WebP of chunks.
func WebP(chunks ...[]byte) []byte {
	body := Join(append([][]byte{[]byte("WEBP")}, chunks...)...)
	return Join([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body)
}

// WebPChunks returns the chunks of a WebP.
func WebPChunks(data []byte) []byte { return data[12:] }

func WebPCanvas(flags byte, w, h int) []byte {
	return WebPChunk("VP8X",
		[]byte{flags, 0, 0, 0, byte(w - 1), byte((w - 1) >> 8), byte((w - 1) >> 16), byte(h - 1),
			byte((h - 1) >> 8), byte((h - 1) >> 16)})
}

// GIFHeader returns the start of a GIF with two colours, up to its first block.
func GIFHeader(w, h uint16) []byte {
	screen := binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16([]byte("GIF89a"),
		w), h)
	return append(screen, 0x80, 0, 0, 0, 0, 0, 255, 255, 255)
}

func GIFFrame(x, y, w, h uint16, packed ...byte) []byte {
	frame := []byte{0x2C}
	for _, n := range []uint16{x, y, w, h} {
		frame = binary.LittleEndian.AppendUint16(frame, n)
	}
	return Join(frame, []byte{0, 2}, packed, []byte{0, 0x3B})
}

// GIFBlocks splits data into the sub-blocks of a GIF.
func GIFBlocks(data []byte) (out []byte) {
	for len(data) > 0 {
		n := min(255, len(data))
		out = append(append(out, byte(n)), data[:n]...)
		data = data[n:]
	}
	return append(out, 0)
}

// InGIF inserts blocks after the header of a GIF with a colour table.
func InGIF(data []byte, blocks ...[]byte) []byte {
	header := 13
	if data[10]&0x80 != 0 {
		header += 3 << (1 + data[10]&7)
	}
	return Join(data[:header], Join(blocks...), data[header:])
}

// EXIF returns EXIF with an orientation and further data.
func EXIF(order binary.AppendByteOrder, orientation uint16, rest string) []byte {
	mark := map[bool]string{true: "II", false: "MM"}[order.String() == "LittleEndian"]
	out := order.AppendUint32(order.AppendUint16([]byte(mark), 42), 8)
	out = order.AppendUint16(out, 2)
	out = order.AppendUint32(order.AppendUint16(order.AppendUint16(out, 0x0100), 4), 1)
	out = order.AppendUint32(out, 7)
	out = order.AppendUint32(order.AppendUint16(order.AppendUint16(out, 0x0112), 3), 1)
	out = order.AppendUint16(order.AppendUint16(out, orientation), 0)
	return append(order.AppendUint32(out, 0), rest...)
}

// Metadata lists texts that must not survive scaling or cleaning: data about the author of a
// photograph, and code that a reader of other formats would run.
var Metadata = []string{
	"Exif", "GPS-52.5163N-13.3777E", "http://ns.adobe.com/", "<x:xmpmeta", "Maker-of-the-picture",
	"ICC_PROFILE", "acsp-profile",
	"<script>alert", "</html>", "PK\x03\x04", "Photoshop 3.0", "Comment-of-the-maker", "NETSCAPE",
	"XMP DataXMP",
}

// WithMetadata returns pictures by format, with Metadata in every place that the format has.
func WithMetadata(t testing.TB, img *image.NRGBA, lossy string) map[string][]byte {
	xmp := "<x:xmpmeta>Maker-of-the-picture<script>alert(1)</script></x:xmpmeta>"
	exif := EXIF(binary.LittleEndian, 1, "GPS-52.5163N-13.3777E")
	script := "Comment-of-the-maker <script>alert(1)</script>"
	tail := []byte("PK\x03\x04<html><script>alert(1)</script></html>")
	pal := Converted(image.NewPaletted(img.Rect, color.Palette{Hole, Red, Lime, Blue, White}), img)
	flags := byte(0x2C)
	if strings.HasPrefix(string(WebPChunks(Fixture(t, lossy))), "VP8X") {
		flags |= 0x10
	}

	frames := WebPChunks(Fixture(t, lossy))
	if flags&0x10 != 0 {
		frames = frames[18:]
	}

	return map[string][]byte{
		"png": Join(InPNG(PNG(t, img), PNGChunk("iCCP", []byte("ICC_PROFILE\x00\x00acsp-profile")),
			PNGChunk("eXIf", append([]byte(exifHead), exif...)),
			PNGChunk("tEXt", []byte("Comment\x00"+script)),
			PNGChunk("iTXt",
				[]byte("XML:com.adobe.xmp\x00\x00\x00\x00\x00http://ns.adobe.com/"+xmp)),
			PNGChunk("prIv", []byte("Photoshop 3.0"))), tail),
		"jpeg": Join(InJPEG(JPEG(t, img), JPEGSegment(0xE1, append([]byte(exifHead), exif...)),
			JPEGSegment(0xE1, []byte("http://ns.adobe.com/xap/1.0/\x00"+xmp)),
			JPEGSegment(0xE2, []byte("ICC_PROFILE\x00\x01\x01acsp-profile")),
			JPEGSegment(0xED, []byte("Photoshop 3.0\x00")), JPEGSegment(0xFE, []byte(script))),
			tail),
		"gif": Join(InGIF(GIF(t, pal), Join([]byte{0x21, 0xFE}, GIFBlocks([]byte(script))),
			Join([]byte{0x21, 0xFF, 11}, []byte("NETSCAPE2.0"), GIFBlocks([]byte{1, 0, 0})),
			Join([]byte{0x21, 0xFF, 11}, []byte("XMP DataXMP"), GIFBlocks([]byte(xmp)))), tail),
		"webp": Join(WebP(WebPCanvas(flags, 64, 32),
			WebPChunk("ICCP", []byte("ICC_PROFILE acsp-profile")), frames,
			WebPChunk("EXIF", append([]byte(exifHead), exif...)),
			WebPChunk("XMP ", []byte("http://ns.adobe.com/"+xmp)),
			WebPChunk("priv", []byte(script))), tail),
	}
}

// FindMetadata returns an entry of Metadata that a public picture must not have, "" for none.
func FindMetadata(text string) string {
	for _, told := range Metadata {
		if !slices.Contains([]string{"Exif", "ICC_PROFILE", "acsp-profile", "NETSCAPE"}, told) &&
			strings.Contains(text, told) {
			return told
		}
	}
	return ""
}

// Decode decodes a result of scaling and checks its bounds.
func Decode(t testing.TB, out []byte, mediaType string, width, height int) image.Image {
	t.Helper()
	decode := map[string]func(io.Reader) (image.Image, error){
		"image/png":  png.Decode,
		"image/jpeg": jpeg.Decode,
	}[mediaType]
	if decode == nil {
		t.Fatalf("the media type is %q", mediaType)
	}

	img, err := decode(bytes.NewReader(out))
	if err != nil {
		t.Fatalf("the result, %s, is none: %v", mediaType, err)
	}
	if b := img.Bounds(); b.Empty() || b.Dx() > width || b.Dy() > height {
		t.Fatalf("the result is %v", b)
	}

	return img
}

const exifHead = "Exif\x00\x00"

func noErr(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
