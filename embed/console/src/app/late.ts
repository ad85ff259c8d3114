import { type ComponentType, lazy, useEffect } from 'react'
import { hooks } from '../api/request'

// late is a part of the frame that is loaded when it is first opened. Where it cannot
// be loaded, nothing opens, and it is looked whether the server is away.
export function late<P extends { onClose: () => void }>(load: () => Promise<ComponentType<P>>) {
  return lazy(async () => ({ default: await load().catch(() => Missing as ComponentType<P>) }))
}

function Missing({ onClose }: { onClose: () => void }) {
  useEffect(() => {
    void hooks.lost()
    onClose()
  }, [])
  return null
}
