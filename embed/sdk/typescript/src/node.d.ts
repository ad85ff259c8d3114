// What test.ts uses of Node.js; the other files run anywhere.

declare module 'node:child_process' {
  interface Stream {
    setEncoding(encoding: 'utf8'): unknown
    on(event: 'data', fn: (text: string) => void): unknown
  }
  interface Process {
    stdin: { end(): void }
    stdout: Stream
    stderr: Stream
    on(event: 'error', fn: (error: Error) => void): unknown
    on(event: 'close', fn: (code: number | null) => void): unknown
  }
  export function spawn(program: string, args: readonly string[], options: { env: Record<string, string | undefined> }): Process
}

declare module 'node:process' {
  const process: { env: Record<string, string | undefined> }
  export default process
}
