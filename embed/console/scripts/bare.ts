import { Button, ConfigProvider, Drawer } from 'antd'
import { createElement, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { light } from '../src/app/theme'

// A page with one button and one empty drawer of the component library, in the theme of the console:
// the speed test of server/e2e compares the console with it.
function Bare() {
  const [clicks, setClicks] = useState(0)
  const [open, setOpen] = useState(false)
  return createElement(
    'main',
    { id: 'main' },
    createElement('h1', null, 'Bare'),
    createElement(Button, { onClick: () => setClicks(clicks + 1) }, `Clicked ${clicks}`),
    createElement(Button, { onClick: () => setOpen(true) }, 'Open'),
    createElement(Drawer, { title: 'Drawer', open, onClose: () => setOpen(false), size: 480, destroyOnHidden: true }, 'Empty'),
  )
}

createRoot(document.getElementById('root')!).render(createElement(ConfigProvider, { theme: light }, createElement(Bare)))
