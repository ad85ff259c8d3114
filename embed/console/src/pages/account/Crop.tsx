import { PictureOutlined, ZoomInOutlined, ZoomOutOutlined } from '@ant-design/icons'
import { Alert, Button, Flex, Modal, Slider, theme, Typography } from 'antd'
import { type DragEvent, useRef, useState } from 'react'
import { Failure, post } from '../../api/request'
import { t } from '../../i18n'
import { words } from '../../ui/words'
import { centred, cut, maxZoom, moved, type Part, zoomed } from './crop-part'
import { Stage } from './Stage'

// Crop selects the visible square of a photo.
export function Crop({ open, onClose, onChange }: { open: boolean; onClose: () => void; onChange: () => Promise<void> }) {
  const [image, setImage] = useState<ImageBitmap>()
  const [part, setPart] = useState<Part>({ zoom: 1, x: 0, y: 0 })
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)

  async function choose(file?: File) {
    if (!file) return
    setProblem('')
    try {
      const bitmap = await createImageBitmap(file)
      setImage(bitmap)
      setPart(centred(bitmap))
    } catch {
      setProblem(t('picture.unreadable'))
    }
  }

  async function save() {
    if (!image) return
    setBusy(true)
    setProblem('')
    try {
      const form = new FormData()
      form.append('file', await cut(image, part), 'picture.png')
      await post('/admin/avatar', undefined, { form, quiet: true })
      onClose()
      await onChange()
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      setProblem(words(cause))
    } finally {
      setBusy(false)
    }
  }

  function closed() {
    image?.close()
    setImage(undefined)
    setProblem('')
  }

  return (
    <Modal
      title={t('picture.change')}
      open={open}
      onCancel={onClose}
      afterClose={closed}
      destroyOnHidden
      width={400}
      okText={t('save')}
      cancelText={t('cancel')}
      okButtonProps={{ disabled: !image, loading: busy }}
      onOk={() => void save()}
    >
      {problem && <Alert type="error" showIcon title={problem} style={{ marginBottom: 16 }} />}
      {image ? (
        <Flex vertical align="center" gap={12}>
          <Stage
            image={image}
            part={part}
            onMove={(dx, dy) => setPart((p) => moved(image, p, dx, dy))}
            onZoom={(by) => setPart((p) => zoomed(image, p, p.zoom * by))}
          />
          <Flex align="center" gap={12} style={{ width: '100%', maxWidth: 300 }}>
            <ZoomOutOutlined aria-hidden />
            <Slider
              min={1}
              max={maxZoom}
              step={0.01}
              value={part.zoom}
              tooltip={{ open: false }}
              ariaLabelForHandle={t('picture.zoom')}
              style={{ flex: 1 }}
              onChange={(zoom) => setPart((p) => zoomed(image, p, zoom))}
            />
            <ZoomInOutlined aria-hidden />
          </Flex>
          <Typography.Text type="secondary" style={{ textAlign: 'center' }}>
            {t('picture.how')}
          </Typography.Text>
          <Chooser onChoose={(file) => void choose(file)} again />
        </Flex>
      ) : (
        <Chooser onChoose={(file) => void choose(file)} />
      )}
    </Modal>
  )
}

// Chooser selects a file by dialog or drop.
function Chooser({ onChoose, again = false }: { onChoose: (file?: File) => void; again?: boolean }) {
  const input = useRef<HTMLInputElement>(null)
  const [over, setOver] = useState(false)
  const { token } = theme.useToken()
  const ask = () => input.current?.click()
  function dropped(e: DragEvent) {
    e.preventDefault()
    setOver(false)
    onChoose(e.dataTransfer.files[0])
  }
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        accept="image/png,image/jpeg,image/gif,image/webp"
        aria-label={t('picture.choose')}
        onChange={(e) => {
          onChoose(e.target.files?.[0])
          e.target.value = ''
        }}
      />
      {again ? (
        <Button type="link" size="small" onClick={ask}>
          {t('picture.another')}
        </Button>
      ) : (
        <button
          type="button"
          data-drop
          onClick={ask}
          onDragOver={(e) => {
            e.preventDefault()
            setOver(true)
          }}
          onDragLeave={() => setOver(false)}
          onDrop={dropped}
          style={{
            width: '100%',
            padding: '40px 16px',
            font: 'inherit',
            color: 'inherit',
            cursor: 'pointer',
            borderRadius: token.borderRadiusLG,
            background: over ? token.colorPrimaryBg : token.colorFillQuaternary,
            border: `1px dashed ${over ? token.colorPrimary : token.colorBorder}`,
          }}
        >
          <PictureOutlined style={{ fontSize: 32, color: token.colorTextSecondary }} />
          <span style={{ display: 'block', marginTop: 8 }}>{t('picture.drop')}</span>
          <span style={{ display: 'block', color: token.colorTextSecondary, fontSize: 13 }}>{t('picture.kinds')}</span>
        </button>
      )}
    </>
  )
}
