import { type ComponentProps, useEffect, useRef } from 'react'

// Wide is a table element that may be wider than its container. While it is, the scroll
// area is focusable, for keyboard scrolling.
function Wide(props: ComponentProps<'table'>) {
  const ref = useRef<HTMLTableElement>(null)
  useEffect(() => {
    const table = ref.current
    const area = table?.parentElement
    if (!table || !area) return
    const look = new ResizeObserver(() => {
      if (area.scrollWidth > area.clientWidth) area.tabIndex = 0
      else area.removeAttribute('tabindex')
    })
    look.observe(table)
    look.observe(area)
    return () => look.disconnect()
  }, [])
  return <table {...props} ref={ref} />
}

// wide are the props of every table.
export const wide = { scroll: { x: 'max-content' }, components: { table: Wide } } as const
