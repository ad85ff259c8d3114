import { useGet } from './useGet'

// useMail reports whether the server can mail links; undefined while that is not known.
export function useMail(): boolean | undefined {
  const home = useGet('/api/home').data
  return home && home.forgot_password === 1
}
