// A request as code: with curl, Reeve's client for TypeScript, and that for Go. The key is in the variable REEVE_KEY.

export type Call = {
  method: string // in upper case
  path: string // with its query
  body?: unknown
  form?: Record<string, string> | undefined // names and values of a form; the value of a file is @FILE
  open?: boolean // needs no key
  bytes?: boolean // the response is a file, not JSON
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export function curl(call: Call, origin: string): string {
  const lines = [`curl${call.method === 'GET' ? '' : ` -X ${call.method}`} ${quoted(origin + call.path)}`]
  if (!call.open) lines.push('-H "Authorization: Bearer $REEVE_KEY"')
  if (call.body !== undefined) lines.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(call.body))}`)
  for (const [name, value] of Object.entries(call.form ?? {})) lines.push(`-F ${quoted(`${name}=${value}`)}`)
  if (call.bytes) lines.push('-o FILE')
  return lines.join(' \\\n  ')
}

// string is a literal of TypeScript.
const string = (text: string): string => `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

// indented is JSON that continues lines which are indented by a text.
const indented = (value: unknown, by: string): string => JSON.stringify(value, null, by.includes('\t') ? '\t' : 2).replaceAll('\n', `\n${by}`)

export function typescript(call: Call, origin: string): string {
  if (call.form || call.bytes) return fetching(call, origin)
  const [path = '', query = ''] = call.path.split('?', 2)
  const values: Record<string, string | string[]> = {}
  for (const [name, value] of new URLSearchParams(query)) values[name] = name in values ? [values[name] ?? [], value].flat() : value
  const options = [...(query ? [`query: ${indented(values, '  ')}`] : []), ...(call.body === undefined ? [] : [`body: ${indented(call.body, '  ')}`])]
  return [
    "import { Reeve } from '@reeve/client'",
    '',
    `const reeve = new Reeve({ url: ${string(origin)}${call.open ? '' : ', key: process.env.REEVE_KEY'} })`,
    `const data = await reeve.call('${call.method}', ${string(path)}${options.length ? `, {\n${options.map((option) => `  ${option},\n`).join('')}}` : ''})`,
  ].join('\n')
}

// fetching sends or receives files, which the client does not.
function fetching({ method, path, form, body, open, bytes }: Call, origin: string): string {
  const headers = [...(open ? [] : ["Authorization: 'Bearer ' + process.env.REEVE_KEY"]), ...(body === undefined ? [] : ["'Content-Type': 'application/json'"])]
  return [
    ...(form ? ['const form = new FormData()'] : []),
    ...Object.entries(form ?? {}).map(([name, value]) => `form.set(${string(name)}, ${value === '@FILE' ? 'file' : string(value)})`),
    `const response = await fetch(${string(origin + path)}, {`,
    `  method: '${method}',`,
    ...(headers.length ? [`  headers: { ${headers.join(', ')} },`] : []),
    ...(form ? ['  body: form,'] : []),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(body, '  ')}),`]),
    '})',
    bytes ? 'const bytes = await response.blob()' : 'const { data } = await response.json()',
  ].join('\n')
}

// text is a literal of Go, over several lines if it can.
const text = (value: string): string => (value.includes('`') ? JSON.stringify(value) : `\`${value}\``)

export function go(call: Call, origin: string): string {
  if (call.form || call.bytes) return requesting(call, origin)
  const body = call.body === undefined ? 'nil' : `json.RawMessage(${text(indented(call.body, '\t'))})`
  return program(
    ['context', ...(call.body === undefined ? [] : ['encoding/json']), 'fmt', 'log', ...(call.open ? [] : ['os']), '', 'reeve.internal/reeve'],
    [
      `client, err := reeve.New(reeve.Options{URL: ${JSON.stringify(origin)}${call.open ? '' : ', Key: os.Getenv("REEVE_KEY")'}})`,
      ...failed,
      '',
      'var data any',
      `err = client.Call(context.Background(), "${call.method}", ${JSON.stringify(call.path)}, ${body}, &data)`,
      ...failed,
      'fmt.Println(data)',
    ],
  )
}

const failed = ['if err != nil {', '\tlog.Fatal(err)', '}']

const program = (imports: string[], lines: string[]): string =>
  [
    'package main',
    '',
    'import (',
    ...imports.map((name) => (name ? `\t"${name}"` : '')),
    ')',
    '',
    'func main() {',
    ...lines.map((line) => (line ? `\t${line}` : '')),
    '}',
  ].join('\n')

// requesting sends or receives files, which the client does not.
function requesting({ method, path, form, body, open }: Call, origin: string): string {
  const sends = form ? '&body' : body === undefined ? 'nil' : `strings.NewReader(${text(indented(body, '\t'))})`
  return program(
    [...(form ? ['bytes'] : []), 'io', 'log', ...(form ? ['mime/multipart'] : []), 'net/http', 'os', ...(body === undefined ? [] : ['strings'])],
    [
      ...(form
        ? [
            'var body bytes.Buffer',
            'form := multipart.NewWriter(&body)',
            ...Object.entries(form).flatMap(([name, value]) =>
              value === '@FILE'
                ? [
                    `file, err := form.CreateFormFile(${JSON.stringify(name)}, "FILE")`,
                    ...failed,
                    'content, err := os.ReadFile("FILE")',
                    ...failed,
                    'file.Write(content)',
                  ]
                : [`form.WriteField(${JSON.stringify(name)}, ${JSON.stringify(value)})`],
            ),
            'form.Close()',
            '',
          ]
        : []),
      `req, err := http.NewRequest("${method}", ${JSON.stringify(origin + path)}, ${sends})`,
      ...failed,
      ...(open ? [] : ['req.Header.Set("Authorization", "Bearer "+os.Getenv("REEVE_KEY"))']),
      ...(form ? ['req.Header.Set("Content-Type", form.FormDataContentType())'] : []),
      ...(body === undefined ? [] : ['req.Header.Set("Content-Type", "application/json")']),
      'res, err := http.DefaultClient.Do(req)',
      ...failed,
      'defer res.Body.Close()',
      'io.Copy(os.Stdout, res.Body)',
    ],
  )
}
