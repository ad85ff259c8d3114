package picture

import (
	"image"

	"golang.org/x/image/draw"
)

// fitInto returns the size that a w × h picture gets within width × height.
func fitInto(w, h, width, height int) (int, int) {
	switch {
	case w <= width && h <= height:
		return w, h
	case w*height > h*width:
		return width, max(1, (h*width+w/2)/w)
	default:
		return max(1, (w*height+h/2)/h), height
	}
}

// scalePicture scales the picture down to w × h pixels. Colours are mixed
// premultiplied, so that transparent pixels contribute no colour.
//
// Catmull-Rom alone needs 32 bytes for every source line and result column, and
// processes every pixel in floating point. So a much larger picture is averaged down
// first, to between two and four times the result, which makes no visible difference.
func scalePicture(img image.Image, w, h int) *image.RGBA {
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	b := img.Bounds()
	if b.Dx() == w && b.Dy() == h {
		draw.Draw(dst, dst.Rect, img, b.Min, draw.Src)
		return dst
	}
	if kx, ky := max(1, b.Dx()/(2*w)), max(1, b.Dy()/(2*h)); kx > 1 || ky > 1 {
		img = averagePicture(img, (b.Dx()+kx-1)/kx, (b.Dy()+ky-1)/ky)
	}
	draw.CatmullRom.Scale(dst, dst.Rect, img, img.Bounds(), draw.Src, nil)
	return dst
}

// averagePicture makes each of w × h pixels the mean of the pixels that it covers. It
// converts the source a few lines at a time.
func averagePicture(img image.Image, w, h int) *image.RGBA {
	b := img.Bounds()
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	band := image.NewRGBA(image.Rect(0, 0, b.Dx(), (b.Dy()+h-1)/h))
	for y := range h {
		top, bottom := y*b.Dy()/h, (y+1)*b.Dy()/h
		draw.Draw(band, image.Rect(0, 0, b.Dx(), bottom-top), img, image.Pt(b.Min.X, b.Min.Y+top),
			draw.Src)
		for x := range w {
			left, right := x*b.Dx()/w, (x+1)*b.Dx()/w
			var red, green, blue, alpha int
			for line := range bottom - top {
				for px := band.Pix[line*band.Stride+4*left : line*band.Stride+4*right]; len(px) >= 4; px = px[4:] {
					red += int(px[0])
					green += int(px[1])
					blue += int(px[2])
					alpha += int(px[3])
				}
			}
			n := (right - left) * (bottom - top)
			to := dst.Pix[dst.PixOffset(x, y):][:4]
			to[0], to[1], to[2], to[3] = uint8((red+n/2)/n), uint8((green+n/2)/n), uint8((blue+n/2)/n), uint8((alpha+n/2)/n)
		}
	}

	return dst
}
