import { expect, test } from 'vitest'
import { packageOf } from './packages'

test('a module belongs to the innermost package that it is in', () => {
  expect(packageOf('/console/node_modules/antd/es/button/index.js')).toBe('node_modules/antd')
  expect(packageOf('/console/node_modules/@rc-component/util/es/omit.js')).toBe('node_modules/@rc-component/util')
  expect(packageOf('/console/node_modules/a/node_modules/@b/c/index.js')).toBe('node_modules/a/node_modules/@b/c')
  expect(packageOf('/console/src/main.tsx')).toBeUndefined()
})

test('a module without a file belongs to the tool that made it', () => {
  expect(packageOf('\0vite/preload-helper.js')).toBe('node_modules/vite')
  expect(packageOf('\0replacement:3')).toBeUndefined()
  expect(() => packageOf('\0other')).toThrow('is from no known package')
})
