import { Form, Modal, Select } from 'antd'
import { useEffect, useState } from 'react'
import type { File } from '../../api/types'
import { t } from '../../i18n'
import { byLabel } from '../../ui/fold'
import { useChoices } from '../../ui/useChoices'

type Props = { files: File[]; move: (files: File[], group: number) => Promise<void>; onClose: () => void }

// MoveDialog selects the folder to move files to.
export function MoveDialog({ files, move, onClose }: Props) {
  const [group, setGroup] = useState<number>()
  const groups = useChoices('file_group', files.length > 0)
  const [busy, setBusy] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: reset for other files
  // biome-ignore lint/nursery/useReactCompiler: reset for other files
  useEffect(() => setGroup(undefined), [files])

  async function submit() {
    setBusy(true)
    try {
      await move(files, group!)
      onClose()
    } finally {
      setBusy(false)
    }
  }
  return (
    <Modal
      title={t('files.move.title')}
      open={files.length > 0}
      onCancel={onClose}
      destroyOnHidden
      okText={t('files.move')}
      okButtonProps={{ disabled: group === undefined, loading: busy }}
      cancelText={t('cancel')}
      onOk={() => void submit()}
    >
      <Form layout="vertical">
        <Form.Item label={t('files.group')} htmlFor="files-move">
          <Select
            id="files-move"
            value={group}
            onChange={setGroup}
            placeholder={t('files.move.choose')}
            showSearch={byLabel}
            options={[{ value: 0, label: t('files.ungrouped') }, ...(groups ?? []).map(({ id, name }) => ({ value: id, label: name }))]}
          />
        </Form.Item>
      </Form>
    </Modal>
  )
}
