import { theme } from 'antd'
import { type KeyboardEvent, type PointerEvent, useEffect, useRef } from 'react'
import { t } from '../../i18n'
import { draw, type Part } from './crop-part'
import { useLatest } from '../../ui/useLatest'

type Props = {
  image: ImageBitmap
  part: Part
  onMove: (dx: number, dy: number) => void // in sides of the square
  onZoom: (by: number) => void
}

const size = 280

type Point = { x: number; y: number }

const apart = (a: Point, b: Point) => Math.max(1, Math.hypot(a.x - b.x, a.y - b.y))

// Stage shows the selected square; pointer, wheel and keys change it.
export function Stage({ image, part, onMove, onZoom }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const held = useRef(new Map<number, Point>()) // by touch or mouse
  const { token } = theme.useToken()
  useEffect(() => draw(canvas.current!, image, part), [image, part])

  // React registers passive wheel listeners, which could not prevent scrolling.
  const zoom = useLatest(onZoom)
  useEffect(() => {
    const at = canvas.current!
    const turned = (e: WheelEvent) => {
      e.preventDefault()
      zoom.current(Math.exp(-e.deltaY / 500))
    }
    at.addEventListener('wheel', turned, { passive: false })
    return () => at.removeEventListener('wheel', turned)
  }, [])

  // Two pointers move it half as far each; their distance zooms.
  function dragged(e: PointerEvent) {
    const before = held.current.get(e.pointerId)
    if (!before) return
    const now = { x: e.clientX, y: e.clientY }
    held.current.set(e.pointerId, now)
    const [other] = [...held.current].filter(([id]) => id !== e.pointerId).map(([, at]) => at)
    const share = e.currentTarget.clientWidth * (other ? 2 : 1)
    onMove((now.x - before.x) / share, (now.y - before.y) / share)
    if (other) onZoom(apart(now, other) / apart(before, other))
  }

  const left = (e: PointerEvent) => void held.current.delete(e.pointerId)

  function pressed(e: KeyboardEvent) {
    const step = e.shiftKey ? 0.01 : 0.05
    const move = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[e.key]
    const by = { '+': 1.1, '=': 1.1, '-': 1 / 1.1 }[e.key]
    if (!move && !by) return
    e.preventDefault()
    if (move) onMove(move[0]!, move[1]!)
    if (by) onZoom(by)
  }

  return (
    <div style={{ position: 'relative', width: size, height: size, maxWidth: '100%' }}>
      <canvas
        ref={canvas}
        width={size * 2}
        height={size * 2}
        tabIndex={0}
        role="application"
        aria-label={t('picture.stage')}
        style={{ width: '100%', height: '100%', borderRadius: token.borderRadiusLG, background: token.colorFillTertiary, cursor: 'grab', touchAction: 'none' }}
        onPointerDown={(e) => {
          e.currentTarget.setPointerCapture(e.pointerId)
          held.current.set(e.pointerId, { x: e.clientX, y: e.clientY })
        }}
        onPointerMove={dragged}
        onPointerUp={left}
        onPointerCancel={left}
        onKeyDown={pressed}
      />
      <div
        aria-hidden
        style={{
          position: 'absolute',
          inset: 0,
          borderRadius: '50%',
          boxShadow: '0 0 0 200px rgb(0 0 0 / .42)',
          clipPath: `inset(0 round ${token.borderRadiusLG}px)`,
          pointerEvents: 'none',
        }}
      />
    </div>
  )
}
