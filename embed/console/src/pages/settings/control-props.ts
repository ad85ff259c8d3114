import type { Setting } from '../../api/types'

// ControlProps are the props of every control of a setting.
export type ControlProps = {
  id?: string
  of: Pick<Setting, 'type' | 'options' | 'props' | 'values'> & Partial<Pick<Setting, 'key'>> & { name?: string } // name is group.key, if it is stored
  value?: string // the stored text
  onChange?: (value: string | undefined) => void // undefined keeps the stored value
  disabled?: boolean
  'aria-labelledby'?: string
  'aria-describedby'?: string
  'aria-invalid'?: boolean
}

// lines is the visible number of lines.
export function lines(text: string): number {
  return Math.min(Math.max(text.split('\n').length, 3), 20)
}
