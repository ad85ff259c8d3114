// Visible square of a photo: at zoom 1 the largest that fits. x and y are its center in
// pixels of the photo.
export type Part = { zoom: number; x: number; y: number }

type Size = { width: number; height: number }

export const maxZoom = 5

// side is the side of the square in pixels of the photo.
export const side = (image: Size, zoom: number) => Math.min(image.width, image.height) / zoom

// inside keeps the square within the photo.
function inside(image: Size, { zoom, x, y }: Part): Part {
  const half = side(image, zoom) / 2
  return { zoom, x: Math.min(Math.max(x, half), image.width - half), y: Math.min(Math.max(y, half), image.height - half) }
}

export const centred = (image: Size): Part => ({ zoom: 1, x: image.width / 2, y: image.height / 2 })

// moved shifts the photo by a fraction of the square's side.
export const moved = (image: Size, part: Part, dx: number, dy: number): Part =>
  inside(image, { ...part, x: part.x - dx * side(image, part.zoom), y: part.y - dy * side(image, part.zoom) })

export const zoomed = (image: Size, part: Part, zoom: number): Part => inside(image, { ...part, zoom: Math.min(Math.max(zoom, 1), maxZoom) })

// draw renders the square on a canvas.
export function draw(canvas: HTMLCanvasElement, image: ImageBitmap, part: Part): void {
  const pen = canvas.getContext('2d')!
  const s = side(image, part.zoom)
  pen.clearRect(0, 0, canvas.width, canvas.height)
  pen.imageSmoothingQuality = 'high'
  pen.drawImage(image, part.x - s / 2, part.y - s / 2, s, s, 0, 0, canvas.width, canvas.height)
}

// cut returns the square as an image of the size that the server stores.
export function cut(image: ImageBitmap, part: Part): Promise<Blob> {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 256
  draw(canvas, image, part)
  return new Promise((done, failed) => canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error('the canvas gives no picture'))), 'image/png'))
}
