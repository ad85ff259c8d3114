import type { Language } from '../languages'

export const language: Language = { name: 'English', short: 'English', change: 'Switch to English', day: 'MMM D' }
