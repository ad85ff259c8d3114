import { useMemo } from 'react'
import type { File } from '../../api/types'
import { t } from '../../i18n'
import { count } from '../../ui/format'
import { parse } from '../people/import-file'
import { textBytes } from './content'
import { Part, Text } from './Text'

const mostRows = 500

// Sheet shows a CSV file as a table, or as text if it is not one.
export function Sheet({ file, text }: { file: File; text: string }) {
  const sheet = useMemo(() => parse(file.size > textBytes ? text.slice(0, text.lastIndexOf('\n')) : text), [file.size, text])
  if (!sheet) return <Text file={file} text={text} />
  const { header, rows } = sheet
  return (
    <Part file={file}>
      <div className="preview-table" tabIndex={0} role="region" aria-label={file.name}>
        <table>
          <thead>
            <tr>
              {header.map((name, at) => (
                <th key={at} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, mostRows).map(({ line, cells }) => (
              <tr key={line}>
                {cells.map((cell, at) => (
                  <td key={at}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {rows.length > mostRows && <p>{t('files.table.part', { n: count(mostRows), of: count(rows.length) })}</p>}
      </div>
    </Part>
  )
}
