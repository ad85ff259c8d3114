// Every change of the user says that it is saved. Actions that say more call told; for any other one,
// hooks.saved is called once the requests of the action have ended.

let running = 0 // requests
let untold = false

// told notes that the page itself confirms the change.
export const told = (): void => {
  untold = false
}

// changed notes that a change is made.
export const changed = (): void => {
  untold = true
}

// telling calls tell after a request, unless its caller goes on with another one or says that the
// change is made.
export async function telling<T>(tell: () => void, request: () => Promise<T>): Promise<T> {
  running++
  try {
    return await request()
  } finally {
    running--
    setTimeout(() => {
      if (running || !untold) return
      untold = false
      tell()
    })
  }
}
