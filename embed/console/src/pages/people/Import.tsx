import { DownloadOutlined, InboxOutlined } from '@ant-design/icons'
import { Alert, Button, Checkbox, Drawer, Flex, Form, Select, Spin, Table, Typography, Upload } from 'antd'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { Failure, get, post, save } from '../../api/request'
import type { Import as Answer } from '../../api/types'
import { useAccount } from '../../app/account'
import { type Key, t } from '../../i18n'
import { count } from '../../ui/format'
import { useAction } from '../../ui/useAction'
import { useMail } from '../../ui/useMail'
import { useWider } from '../../ui/useWider'
import { words } from '../../ui/words'
import { useForms } from '../fields/useForms'
import { nameOf } from '../fields/values'
import type { Realm } from './realm'
import { bare, decode, guess, isExact, largest, made as madeOf, parse, type Known, namesOf, rejected, type Sheet, type Target, meant } from './import-file'
import { Mapping } from './Mapping'
import { reasonsOf, Verdicts } from './Verdicts'
import { byLabel } from '../../ui/fold'

// Encodings of CSV files from spreadsheets. The server reads UTF-8 and byte order marks by itself, and asks for the others.
const described = [
  'auto',
  'utf-8',
  'utf-16',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'windows-1253',
  'windows-1254',
  'windows-1255',
  'windows-1256',
  'windows-1257',
  'windows-1258',
  'windows-874',
  'gb18030',
  'big5',
  'shift_jis',
  'euc-kr',
  'macintosh',
] as const
const others =
  'utf-16be euc-jp iso-2022-jp iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8 iso-8859-10 iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 koi8-r koi8-u x-mac-cyrillic ibm437 ibm850 ibm852 ibm855 ibm866'.split(
    ' ',
  )

type Props = { realm: Realm; open: boolean; onClose: () => void; onDone: () => void }

// Read is a file as a table, and what its columns hold. While it is being mapped, nothing is sent.
type Read = { sheet: Sheet; charset: string; chosen: string[]; mapping: boolean }

// Import creates users from a file, after its columns were mapped and its rows checked. Rows with errors can be left
// out. A file that can't be read here is sent as it is, so that the server says what is wrong.
export function Import({ realm, open, onClose, onDone }: Props) {
  const [file, setFile] = useState<File>()
  const [answer, setAnswer] = useState<Answer>()
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const [charset, setCharset] = useState('')
  const [invite, setInvite] = useState(false)
  const [table, setTable] = useState<Read>()
  const [imported, setImported] = useState<number>() // users, when only rows with errors are left
  const { may } = useAccount()
  const mail = useMail()
  const { notify } = useAction()
  const md = useWider('md')
  const targets = useTargets(realm)
  const begin = useCallback((next?: File) => {
    setFile(next)
    setAnswer(undefined)
    setTable(undefined)
    setImported(undefined)
    setProblem('')
  }, [])
  useEffect(() => {
    if (!open) return
    // biome-ignore lint/nursery/useReactCompiler: the dialog opens empty
    begin(undefined)
    setCharset('')
    setInvite(false)
  }, [open, begin])

  async function ask(of: File, dryRun: boolean, as = charset) {
    setBusy(true)
    setProblem('')
    try {
      const form = new FormData()
      form.append('file', of)
      return await post(`${realm.path}-import`, undefined, {
        form,
        query: { dry_run: dryRun ? 1 : undefined, charset: as, invite: invite ? 1 : undefined },
        quiet: true,
      })
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      setProblem(cause.errors.file ?? cause.errors.charset ?? words(cause))
    } finally {
      setBusy(false)
    }
  }

  async function check(chosen: File) {
    if (chosen.size > largest) {
      begin(undefined)
      return setProblem(t('people.import.large', { n: largest / 1024 / 1024 }))
    }
    await look(new File([await chosen.arrayBuffer()], chosen.name, { type: chosen.type }), charset)
  }

  // known returns the names of departments and roles, as far as they can be listed.
  async function known(): Promise<Known> {
    if (!may(`${realm.access}.create`) && !may(`${realm.access}.update`)) return {}
    const ask = async (of: 'dept' | 'role' | 'app_role') => namesOf((await get('/admin/choice', { of }, { quiet: true })).data)
    const [roles, department] = await Promise.allSettled([ask(realm.choice), realm.ours ? ask('dept') : undefined])
    return { roles: roles.status === 'fulfilled' ? roles.value : undefined, department: department.status === 'fulfilled' ? department.value : undefined }
  }

  // look reads a file, and asks what its columns hold unless they have the names of the API. An unreadable file stays
  // selected, as another encoding may help.
  async function look(kept: File, as: string) {
    begin(kept)
    const read = decode(await kept.arrayBuffer(), as)
    if (!read && !as) return setProblem(t('people.import.charset.unread'))
    const sheet = read && parse(read.text)
    if (!sheet) return setAnswer(await ask(kept, true, as))
    const next = { sheet, charset: read.charset, chosen: guess(sheet, targets), mapping: true }
    if (isExact(sheet, next.chosen)) return preview(next)
    setTable({ ...next, chosen: guess(sheet, targets, await known()) })
  }

  // send sends rows of the table, and returns the answer with the lines of the file.
  async function send({ sheet, charset, chosen }: Read, dryRun: boolean, lines?: Set<number>) {
    const { file: part, lines: of } = madeOf(lines ? sheet.rows.filter(({ line }) => lines.has(line)) : sheet.rows, chosen)
    const got = await ask(part, dryRun, '')
    return got && { ...got, charset, rows: got.rows.map((row) => ({ ...row, line: of.get(row.line) ?? row.line })) }
  }

  // preview shows the mapping if the whole file is refused.
  async function preview(next: Read) {
    setTable({ ...next, mapping: false })
    setAnswer(undefined)
    const got = await send(next, true)
    if (got) setAnswer(got)
    else setTable({ ...next, mapping: true })
  }

  function read(as: string) {
    setCharset(as)
    if (file) void look(file, as)
  }

  // importGood imports the rows without errors. If something changed since the preview, there is a new one.
  async function importGood() {
    if (!file || !answer) return
    const bad = answer.rows.filter(({ ok }) => !ok)
    const lines = new Set(answer.rows.flatMap(({ ok, line }) => (ok ? [line] : [])))
    const made = table ? await send(table, false, lines) : await ask(file, false)
    if (!made) return setAnswer((table ? await send(table, true) : await ask(file, true)) ?? answer)
    notify(made.job?.state === 'done' ? t('people.import.done', { n: count(made.created) }) : t('people.import.running'))
    onDone()
    if (!bad.length) return onClose()
    setImported(lines.size)
    setAnswer({ ...answer, rows: bad })
  }

  const titleOf = (column: string) => targets.find((one) => one.column === column)?.title ?? column
  function download() {
    if (!table || !answer) return
    const reasons = new Map(answer.rows.flatMap((row) => (row.ok ? [] : [[row.line, reasonsOf(row, titleOf)] as const])))
    save({
      blob: rejected(table.sheet, t('people.import.reason'), reasons),
      name: (file?.name ?? 'users.csv').replace(/(\.\w+)?$/, `-${t('people.import.errors')}.csv`),
    })
  }

  const cells = useMemo(() => {
    if (!table) return undefined
    const rows = new Map(table.sheet.rows.map((row) => [row.line, row.cells]))
    return (line: number, column: string) => bare(meant(column, rows.get(line)?.[table.chosen.indexOf(column)]).trim())
  }, [table])
  const failed = answer?.failed ?? 0
  const good = answer && imported === undefined ? answer.rows.length - failed : 0
  return (
    <Drawer
      title={t(realm.texts.import)}
      open={open}
      onClose={onClose}
      size={!md ? '100%' : table && !table.mapping ? 960 : 720}
      destroyOnHidden
      footer={
        <Flex gap={8} justify="end" wrap>
          <Button onClick={onClose}>{t(imported === undefined ? 'cancel' : 'close')}</Button>
          {file && <Button onClick={() => begin(undefined)}>{t('people.import.other')}</Button>}
          {table && answer && !table.mapping && imported === undefined && (
            <Button disabled={busy} onClick={() => setTable({ ...table, mapping: true })}>
              {t('people.import.map.change')}
            </Button>
          )}
          {table && failed > 0 && !table.mapping && (
            <Button icon={<DownloadOutlined />} type={imported === undefined ? 'default' : 'primary'} onClick={download}>
              {t('people.import.download', { n: count(failed) })}
            </Button>
          )}
          {table?.mapping ? (
            <Button type="primary" loading={busy} disabled={!table.chosen.includes('username')} onClick={() => void preview(table)}>
              {t('people.import.check')}
            </Button>
          ) : (
            good > 0 &&
            (table || failed === 0) && (
              <Button type="primary" loading={busy} onClick={() => void importGood()}>
                {t(failed ? 'people.import.ok_good' : 'people.import.ok', { n: count(good) })}
              </Button>
            )
          )}
        </Flex>
      }
    >
      <Form layout="vertical">
        <Form.Item label={t('people.import.charset')} htmlFor="charset" extra={t('people.import.charset.hint')}>
          <Select
            id="charset"
            showSearch={byLabel}
            virtual={false}
            style={{ maxWidth: 320 }}
            value={charset}
            disabled={busy}
            onChange={read}
            options={[
              ...described.map((name) => ({ value: name === 'auto' ? '' : name, label: t(`people.import.charset.${name}`) })),
              ...others.map((value) => ({ value, label: value.toUpperCase() })),
            ]}
          />
        </Form.Item>
        {may(`${realm.invite}.create`) && (
          <Form.Item extra={t(mail === false ? 'people.import.invite.off' : 'people.import.invite.hint')}>
            <Checkbox checked={invite} disabled={busy} onChange={(e) => setInvite(e.target.checked)}>
              {t('people.import.invite')}
            </Checkbox>
          </Form.Item>
        )}
      </Form>
      {problem && <Alert type="error" showIcon title={problem} style={{ marginBottom: 16, overflowWrap: 'anywhere' }} />}
      {file && (
        <Typography.Paragraph strong ellipsis title={file.name}>
          {file.name}
        </Typography.Paragraph>
      )}
      {answer && <Typography.Paragraph type="secondary">{t('people.import.charset.read', { charset: answer.charset.toUpperCase() })}</Typography.Paragraph>}
      {table?.mapping ? (
        <Mapping sheet={table.sheet} targets={targets} chosen={table.chosen} onChange={(chosen) => setTable({ ...table, chosen })} />
      ) : answer ? (
        <Verdicts of={answer} imported={imported} targets={targets.filter(({ column }) => table?.chosen.includes(column))} cells={cells} />
      ) : (
        busy && (
          <Spin description={t('people.import.checking')}>
            <div style={{ height: 120 }} />
          </Spin>
        )
      )}
      {!answer && !busy && !table && <Choose realm={realm} hashes={may(`${realm.access}.password`)} onChoose={(chosen) => void check(chosen)} />}
    </Drawer>
  )
}

// useTargets are what a column can hold.
function useTargets(realm: Realm): Target[] {
  const { may } = useAccount()
  const fields = useForms()[realm.fields]
  return useMemo(() => {
    const custom = fields.filter((field) => field.writable).map(({ key, title }) => ({ column: nameOf(key), title }))
    const own = [...realm.columns, ...(may(`${realm.access}.password`) ? (['password_hash'] as const) : [])]
    return [...own.map((column) => ({ column, title: t(`people.import.of.${column}`) })), ...custom]
  }, [realm, fields, may])
}

// Choose selects a file and describes its format. Only users who may set passwords see the
// column with their hashes; a template with it would require that permission of all.
function Choose({ realm, hashes, onChoose }: { realm: Realm; hashes: boolean; onChoose: (file: File) => void }) {
  const custom = useForms()[realm.fields].filter((field) => field.writable)
  const columns = [...realm.columns, ...custom.map(({ key }) => nameOf(key))]
  const meanings: [string, string][] = realm.columns.map((column) => [column, t(`people.import.${column}` as Key)])
  for (const { key, title, required } of custom) meanings.push([nameOf(key), t(required ? 'people.import.custom.required' : 'people.import.custom', { title })])
  if (hashes) meanings.push(['password_hash', t('people.import.password_hash')])
  return (
    <Flex vertical gap={16}>
      <Upload.Dragger
        accept=".csv,text/csv"
        showUploadList={false}
        beforeUpload={(file) => {
          onChoose(file)
          return false
        }}
      >
        <p>
          <InboxOutlined style={{ fontSize: 32 }} />
        </p>
        <p>{t('people.import.drop')}</p>
        <Typography.Text type="secondary">{t('people.import.limits')}</Typography.Text>
      </Upload.Dragger>
      <Alert type="info" showIcon title={t('people.import.no_password')} />
      <Table
        size="small"
        rowKey="column"
        pagination={false}
        title={() => (
          <Flex justify="space-between" align="center" gap={8} wrap>
            <Typography.Text strong>{t('people.import.columns')}</Typography.Text>
            <Button
              size="small"
              icon={<DownloadOutlined />}
              onClick={() =>
                save({
                  blob: new Blob([`\uFEFF${columns.join(',')}\r\n`], { type: 'text/csv' }),
                  name: realm.template,
                })
              }
            >
              {t('people.import.template')}
            </Button>
          </Flex>
        )}
        dataSource={meanings.map(([column, meaning]) => ({ column, meaning }))}
        columns={[
          { title: t('people.import.column'), dataIndex: 'column', render: (column: string) => <code style={{ whiteSpace: 'nowrap' }}>{column}</code> },
          { title: t('people.import.meaning'), dataIndex: 'meaning', render: (meaning: string) => <span style={{ overflowWrap: 'anywhere' }}>{meaning}</span> },
        ]}
      />
    </Flex>
  )
}
