import { type ComponentType, useEffect, useEffectEvent, useState } from 'react'
import { hooks } from '../api/request'

// late is a part of the frame that is loaded when it is opened. Where it cannot be
// loaded, nothing opens, and it is looked whether the server is away; the next time
// it is tried again. Once loaded it opens at once: the next key is its own.
export function late<P extends { open?: boolean; onClose: () => void }>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined
  return function Late(props: P) {
    const [Loaded, setLoaded] = useState(() => loaded)
    const failed = useEffectEvent(() => {
      void hooks.lost()
      props.onClose()
    })
    useEffect(() => {
      if (Loaded || props.open === false) return
      load().then((part) => setLoaded(() => (loaded = part)), failed)
    }, [Loaded, props.open])
    return Loaded && <Loaded {...props} />
  }
}
