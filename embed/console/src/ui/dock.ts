import type { ReactNode } from 'react'
import { store } from './store'

// What a page docks stands above all pages, and stays while others are opened.

const docked = store<ReactNode>(null)

export const dock = docked.set
export const useDocked = docked.use
