import { type ComponentType, useEffect, useEffectEvent, useState } from 'react'
import { hooks } from '../api/request'

// late is a part of the frame that is loaded when it first opens. If it can't be loaded,
// nothing opens, the server's availability is checked, and the next attempt loads it
// again. Once loaded it opens synchronously, so that it receives the next key.
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
