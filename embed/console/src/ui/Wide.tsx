import { type ComponentProps, useEffect, useRef } from 'react'

// Wide is the element of a table that may be wider than its place. While it is, the
// area that it scrolls in can be reached and moved by keys.
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

// wide is what every table is given.
export const wide = { scroll: { x: 'max-content' }, components: { table: Wide } } as const
