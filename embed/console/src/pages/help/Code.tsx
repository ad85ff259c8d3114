import { Flex } from 'antd'
import { Copy } from '../../ui/Copy'
import './help.css'

// Code is a program with a button that copies it.
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <Flex vertical align="start" gap={4} style={{ width: '100%' }}>
      <pre className="code" role="group" aria-label={label} tabIndex={0} style={{ width: '100%', boxSizing: 'border-box', tabSize: 4 }}>
        {text}
      </pre>
      <Copy text={text} />
    </Flex>
  )
}
