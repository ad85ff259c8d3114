const pause = () => new Promise((next) => setTimeout(next, 20))

// closed waits until a question that has just been answered is gone, and the focus back.
export async function closed(): Promise<void> {
  for (let n = 0; n < 25 && document.querySelector('.ant-modal-confirm'); n++) await pause()
}

// rowWithFocus returns the place of the row with the focus in the lists of a section. What is returned moves the focus to
// the row that is at that place by now, and to the section without one: the row may have been removed.
export function rowWithFocus(section: string): () => Promise<void> {
  const rows = () => [...(document.getElementById(section)?.querySelectorAll('li') ?? [])]
  const row = document.activeElement?.closest('li')
  const at = row ? rows().indexOf(row) : -1
  return async () => {
    await closed()
    await pause() // until the list is drawn
    if (row?.isConnected && row.contains(document.activeElement)) return
    const now = rows()
    const next = at < 0 ? undefined : now[Math.min(at, now.length - 1)]
    ;(next ?? document.getElementById(section))?.focus({ preventScroll: true })
  }
}
