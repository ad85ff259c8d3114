// Each of these breaks a rule on purpose. The lint reports a suppression that suppresses
// nothing, so that a rule which is lost is noticed.
import { useEffect, useRef, useState } from 'react'
// biome-ignore lint/style/noRestrictedImports: a module that the build may have replaced
import Table from 'antd/es/table'
// biome-ignore lint/style/noRestrictedImports: an input for secrets that may be stored
import Password from 'antd/es/input/Password'
// biome-ignore lint/suspicious/noImportCycles: a circle
import { Circle } from './lint-circle.test-d'

export function Broken({ a }: { a: number }) {
  const ref = useRef(a)
  // biome-ignore lint/nursery/useReactCompiler: a ref that is written during a render
  ref.current = a
  return a ? <Table /> : <Password />
}

export const Circular = () => <Circle a={1} />

export function Conditional({ a }: { a: number }) {
  // biome-ignore lint/nursery/useReactCompiler: a hook under a condition
  // biome-ignore lint/correctness/useHookAtTopLevel: a hook under a condition
  if (a) useState(1)
  return null
}

export function Forgetful({ a }: { a: number }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: a missing dependency
  useEffect(() => void document.title.at(a), [])
  return null
}
