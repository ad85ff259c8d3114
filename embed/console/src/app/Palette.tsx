import { SearchOutlined } from '@ant-design/icons'
import { theme } from 'antd'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { t } from '../i18n'
import { Key } from '../ui/Key'
import { type Command, type Group, matching, recents, remember, useCommands, useFound } from './commands'
import type { Place } from './menu'
import { Overlay } from './Overlay'

type Props = { places: Place[]; onClose: () => void; onHelp: () => void; onRequests: () => void }

// Server results come last, so that nothing moves under the pointer.
const order: Group[] = ['recent', 'pages', 'actions', 'users', 'settings']

// Palette finds any page, command, user or setting by a few letters.
export function Palette({ places, onClose, onHelp, onRequests }: Props) {
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const [last] = useState(recents)
  const commands = useCommands(places, onHelp, onRequests)
  const { found, asking } = useFound(typed)
  const list = useRef<HTMLDivElement>(null)
  const { token } = theme.useToken()

  const shown = arranged(typed, commands, last, found)
  const current = Math.min(at, shown.length - 1)
  const id = (i: number) => `command-${i}`

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the selection changes
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [current, shown.length])

  function run(command?: Command) {
    if (!command) return
    remember(command)
    onClose()
    command.run()
  }

  function pressed(e: KeyboardEvent) {
    if (e.nativeEvent.isComposing || shown.length === 0) return
    const to = {
      ArrowDown: (current + 1) % shown.length,
      ArrowUp: (current - 1 + shown.length) % shown.length,
      PageDown: Math.min(current + 8, shown.length - 1),
      PageUp: Math.max(current - 8, 0),
    }[e.key]
    if (to !== undefined) {
      e.preventDefault()
      setAt(to)
    } else if (e.key === 'Enter') {
      e.preventDefault()
      run(shown[current])
    }
  }

  const line = `1px solid ${token.colorBorderSecondary}`
  return (
    <Overlay label={t('palette')} onClose={onClose}>
      <div className="palette-input" style={{ borderBottom: line }}>
        <SearchOutlined style={{ fontSize: 16, color: token.colorTextSecondary }} />
        <input
          role="combobox"
          aria-expanded={shown.length > 0}
          aria-controls="commands"
          aria-autocomplete="list"
          aria-activedescendant={shown.length ? id(current) : undefined}
          aria-label={t('palette')}
          placeholder={t('palette.hint')}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(e) => {
            setTyped(e.target.value)
            setAt(0)
          }}
          onKeyDown={pressed}
        />
      </div>
      <div ref={list} id="commands" role="listbox" aria-label={t('palette')} className="palette-list" hidden={shown.length === 0}>
        {order.map((group) => {
          const inside = shown.flatMap((command, i) => (command.group === group ? [{ command, i }] : []))
          return (
            inside.length > 0 && (
              <div key={group} role="group" aria-label={t(`palette.${group}`)}>
                <div className="palette-group" aria-hidden style={{ color: token.colorTextSecondary }}>
                  {t(`palette.${group}`)}
                </div>
                {inside.map(({ command, i }) => (
                  <Option key={command.id} id={id(i)} command={command} on={i === current} onPoint={() => setAt(i)} onRun={() => run(command)} />
                ))}
              </div>
            )
          )
        })}
      </div>
      {shown.length === 0 && (
        <p style={{ margin: 0, padding: '28px 16px', textAlign: 'center', color: token.colorTextSecondary }}>
          {asking ? t('palette.asking') : t('empty.narrowed')}
        </p>
      )}
      <span role="status" className="visually-hidden">
        {asking ? '' : t('palette.found', { n: shown.length })}
      </span>
      <div className="palette-foot" aria-hidden style={{ borderTop: line, color: token.colorTextSecondary }}>
        <span>
          <Key>↑</Key> <Key>↓</Key> {t('palette.move')}
        </span>
        <span>
          <Key>↵</Key> {t('palette.run')}
        </span>
        <span>
          <Key>Esc</Key> {t('close')}
        </span>
      </div>
    </Overlay>
  )
}

// arranged returns the commands in screen order.
function arranged(typed: string, commands: Command[], last: string[], found: Command[]): Command[] {
  const known = typed.trim() ? matching(commands, typed) : commands
  const recent = typed.trim()
    ? []
    : last.flatMap((id) => known.find((command) => command.id === id) ?? []).map((command) => ({ ...command, group: 'recent' as const }))
  const rest = [...known, ...found].filter((command) => !recent.some((other) => other.id === command.id))
  return order.flatMap((group) => [...recent, ...rest].filter((command) => command.group === group))
}

type OptionProps = { id: string; command: Command; on: boolean; onPoint: () => void; onRun: () => void }

function Option({ id, command, on, onPoint, onRun }: OptionProps) {
  const { token } = theme.useToken()
  return (
    <div
      id={id}
      role="option"
      aria-selected={on}
      onMouseMove={on ? undefined : onPoint}
      onMouseDown={(e) => e.preventDefault()}
      onClick={onRun}
      style={{ background: on ? token.controlItemBgActive : undefined }}
    >
      {command.icon}
      <span title={command.title}>
        <bdi>{command.title}</bdi>
        {command.mark}
      </span>
      {command.hint && (
        <span className="hint" title={command.hint} style={{ color: token.colorTextSecondary }}>
          <bdi>{command.hint}</bdi>
        </span>
      )}
    </div>
  )
}
