// Said is what a mail server said, as it said it.
export function Said({ text }: { text: string }) {
  return (
    <span dir="ltr" style={{ fontFamily: 'monospace', fontSize: 13, whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {text}
    </span>
  )
}
