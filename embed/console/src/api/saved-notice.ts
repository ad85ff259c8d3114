// Every change of the user says that it is saved. Actions that say more call noticeShown; for any other one,
// hooks.saved is called once the requests of the action have ended.

let running = 0 // requests
let due = false

// noticeShown records that the page itself has confirmed the change.
export const noticeShown = (): void => {
  due = false
}

// noticeDue records that a change is made, of which the user has not been notified.
export const noticeDue = (): void => {
  due = true
}

// withNotice calls notify after a request, unless its caller goes on with another one or says that the
// change is made.
export async function withNotice<T>(notify: () => void, request: () => Promise<T>): Promise<T> {
  running++
  try {
    return await request()
  } finally {
    running--
    setTimeout(() => {
      if (running || !due) return
      due = false
      notify()
    })
  }
}
