// biome-ignore lint/suspicious/noImportCycles: a circle
export { Broken as Circle } from './lint.test-d'
