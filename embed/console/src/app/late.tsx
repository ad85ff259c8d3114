import { type ComponentType, useEffect, useState } from 'react'
import { hooks } from '../api/request'

// late is a part of the frame that is loaded when it is opened. Where it cannot be
// loaded, nothing opens, and it is looked whether the server is away; the next time
// it is tried again.
export function late<P extends { onClose: () => void }>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  return function Late(props: P) {
    const [Loaded, setLoaded] = useState<ComponentType<P>>()
    useEffect(() => {
      load().then((part) => setLoaded(() => part), () => {
        void hooks.lost()
        props.onClose()
      })
    }, [])
    return Loaded && <Loaded {...props} />
  }
}
