import { Alert, Button, type FormInstance } from 'antd'
import { useCallback, useEffect, useRef, useState } from 'react'
import { t } from '../i18n'
import { forget, type Kept, keep, recall } from './kept'

// Draft identifies the form and its record for what is kept of its input.
export type Draft = {
  key: string
  version?: () => string | undefined // of the record that the form was filled with
  repeatable?: boolean // whether saving can be repeated if it is unknown whether it was done
}

const delay = 300 // between typing and storing, in milliseconds

// useDraft keeps the input of a form that differs from what the form was filled with. filled is called after the form
// was filled, and returns what was kept; typed after each change; end when the input is saved or discarded.
export function useDraft<V extends object>(form: FormInstance<V>) {
  const [since, setSince] = useState(0) // when what was restored was typed; 0 if nothing was
  const state = useRef({ key: '', version: undefined as string | undefined, base: {} as Kept['values'] })
  const secrets = useRef({ shown: new Set<string>(), typed: new Set<string>() })
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const values = useCallback(() => form.getFieldsValue(true) as Kept['values'], [form])

  const store = useCallback(() => {
    if (timer.current === undefined) return
    clearTimeout(timer.current)
    timer.current = undefined
    const { key, version, base } = state.current
    const differs = ([name, value]: [string, unknown]) => !secrets.current.typed.has(name) && JSON.stringify(value) !== JSON.stringify(base[name])
    const given = Object.entries(values()).filter(differs)
    keep(key, Object.fromEntries(given.map(([name, value]) => [name, value ?? null])), version) // JSON has no undefined
  }, [values])

  // What is typed last is stored when the page or the form is left.
  useEffect(() => {
    addEventListener('pagehide', store)
    return () => {
      removeEventListener('pagehide', store)
      store()
    }
  }, [store])

  return {
    since,
    mark: useCallback((name: string) => {
      const { shown, typed } = secrets.current
      shown.add(name)
      typed.add(name) // it stays in the form when its input is gone
      return () => void shown.delete(name)
    }, []),
    filled: useCallback(
      ({ key, version }: Draft): Kept | undefined => {
        const kept = recall(key)
        Object.assign(state.current, { key, version: kept ? kept.version : version?.(), base: structuredClone(values()) })
        secrets.current.typed = new Set(secrets.current.shown)
        const fields = Object.entries(kept?.values ?? {}).map(([name, value]) => [name, value ?? undefined] as const)
        form.setFieldsValue(Object.fromEntries(fields) as Parameters<typeof form.setFieldsValue>[0])
        setSince(kept?.at ?? 0)
        return kept
      },
      [form, values],
    ),
    typed: useCallback(() => {
      timer.current ??= setTimeout(store, delay)
    }, [store]),
    end: useCallback(() => {
      clearTimeout(timer.current)
      timer.current = undefined
      forget(state.current.key)
      setSince(0)
    }, []),
  }
}

// Restored says that a form shows input that was not saved.
export function Restored({ since, onDiscard }: { since: number; onDiscard: () => void }) {
  if (!since) return null
  const at = new Date(since)
  const time = at.toTimeString().slice(0, 5)
  return (
    <Alert
      type="info"
      showIcon
      role="status"
      style={{ marginBottom: 16 }}
      title={t('form.restored', { at: at.toDateString() === new Date().toDateString() ? time : `${at.toLocaleDateString('sv')} ${time}` })}
      action={
        <Button size="small" onClick={onDiscard}>
          {t('form.lose.ok')}
        </Button>
      }
    />
  )
}
