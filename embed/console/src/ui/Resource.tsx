import { Form, type FormItemProps, type TableProps } from 'antd'
import { lazy, type ReactNode } from 'react'
import type { Body, Item, Listing, Path } from '../api/paths'
import type { Access } from '../api/types'
import { useAccount } from '../app/account'
import { t } from '../i18n'
import { CreateButton } from './CreateButton'
import { Actions, actionsColumn } from './Actions'
import type { FormDrawer as Drawer, Props as DrawerProps } from './FormDrawer'
import { List } from './List'
import { topicsOf } from './topics'
import { useChanges } from './useChanges'
import { useEditor } from './useEditor'
import { Panel, usePanel } from './usePanel'
import { useRemove } from './useRemove'
import { useTable } from './useTable'

const FormDrawer = lazy(async () => ({ default: (await import('./FormDrawer')).FormDrawer })) as unknown as typeof Drawer

type Stored = { id: number; updated_at: string }

type Table<T extends { id: number }> = ReturnType<typeof useTable<T>>

type Props<P extends string, T extends Stored, V extends object> = {
  path: P & Listing<T> & Path<'POST'> // of the list; a record's has its ID, too
  may: Access extends infer A ? (A extends `${infer Page}.create` ? Page : never) : never // what the permissions begin with
  title: string
  create: string // the button for a new record, and the title of its form
  edit?: string // the title of a record's form, if it says more than the button
  name: (record: T) => string
  columns: (list: Table<T>) => NonNullable<TableProps<T>['columns']> // without the actions
  filters?: (list: Table<T>) => ReactNode
  search?: boolean
  empty: ReactNode
  blank: Partial<NoInfer<V>> // what the form of a new record holds
  values: (record: T) => V & Body<'POST', P> & Partial<Body<'PUT', Item<P>>>
  collection?: string // name of the collection: a record has its history, and the list shows changes by others
  fields: (FormItemProps & { name: keyof NoInfer<V> & string })[] // of the form
  remove?: (record: T, list: Table<T>) => Promise<void> // instead of asking and deleting
}

// useAnyEditor is useEditor where the path is not known: Props holds the values to its bodies.
const useAnyEditor = useEditor as unknown as <T, V>(
  path: string,
  record: T | undefined,
  values: (record: T) => V,
) => { save: (values: V) => Promise<T>; form: (blank: Partial<V>) => Pick<DrawerProps<V & object>, 'initial' | 'reload' | 'onFill' | 'draft' | 'ok'> }

// Resource is a list of records that are created and edited in a drawer, and deleted.
export function Resource<P extends string, T extends Stored, V extends object>(props: Props<P, T, V>) {
  const { path, title, name } = props
  const { may } = useAccount()
  const removing = useRemove()
  const list = useTable<T>(path)
  useChanges(props.collection && !topicsOf(path) ? [props.collection] : undefined, list.refresh)
  const edited = usePanel<{ record?: T }>()
  const able = (action: 'create' | 'update' | 'delete') => may(`${props.may}.${action}` as Access)

  async function remove(one: T) {
    if (props.remove) return props.remove(one, list)
    const removed = await removing({
      path: `${path}/${one.id}` as Path<'DELETE'>,
      question: { title: t('delete.sure', { name: name(one) }), text: t('delete.text'), ok: t('delete') },
      message: t('deleted', { name: name(one) }),
      needs: props.collection ? [`${props.may}.create` as Access] : undefined,
    })
    if (removed) await list.reload()
  }

  const actions = actionsColumn<T>((one) => (
    <Actions
      first={able('update') && { label: t('edit'), onClick: () => edited.show({ record: one }) }}
      label={t('more.of', { name: name(one) })}
      more={[able('delete') && { label: t('delete'), danger: true, onClick: () => void remove(one) }]}
    />
  ))
  return (
    <>
      <List
        title={title}
        list={list}
        search={props.search}
        filters={props.filters?.(list)}
        empty={props.empty}
        columns={[...props.columns(list), actions]}
        create={able('create') && <CreateButton onClick={() => edited.show({})}>{props.create}</CreateButton>}
      />
      <Panel of={edited}>
        {({ record }, open) => (
          <Editor<T, V>
            path={path}
            record={record}
            values={props.values}
            blank={props.blank}
            fields={props.fields}
            title={record ? (props.edit ?? t('edit')) : props.create}
            collection={props.collection}
            open={open}
            onClose={edited.hide}
            onSaved={list.reload}
          />
        )}
      </Panel>
    </>
  )
}

type EditorProps<T, V> = {
  path: string
  record?: T
  values: (record: T) => V
  blank: Partial<V>
  fields: FormItemProps[]
  title: string
  collection?: string
  open: boolean
  onClose: () => void
  onSaved: () => Promise<void>
}

// Editor is the drawer of a record, or of a new one.
function Editor<T extends Stored, V extends object>({ path, record, values, blank, fields, title, collection, open, onClose, onSaved }: EditorProps<T, V>) {
  const editor = useAnyEditor<T, V>(path, record, values)

  async function save(values: V) {
    await editor.save(values)
    await onSaved()
  }

  return (
    <FormDrawer<V>
      title={title}
      open={open}
      onClose={onClose}
      save={save}
      {...editor.form(blank)}
      history={record && collection !== undefined && { collection, id: record.id }}
    >
      {fields.map((field) => (
        <Form.Item key={String(field.name)} {...field} />
      ))}
    </FormDrawer>
  )
}
