import type { ReactNode } from 'react'
import { store } from './store'

// Docked content is shown above all pages and stays when the page changes.

const docked = store<ReactNode>(null)

export const dock = docked.set
export const useDocked = docked.use
