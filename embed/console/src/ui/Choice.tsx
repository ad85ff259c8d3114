import { Select } from 'antd'

type Props = {
  list: { params: URLSearchParams; set: (values: Record<string, string | undefined>) => void }
  name: string // of the parameter
  label: string
  options: { value: string; label: string }[]
}

// Choice filters a list by one of a few values.
export function Choice({ list, name, label, options }: Props) {
  return (
    <Select
      allowClear
      style={{ width: 140 }}
      placeholder={label}
      aria-label={label}
      value={list.params.get(name) ?? undefined}
      onChange={(value?: string) => list.set({ [name]: value })}
      options={options}
    />
  )
}
