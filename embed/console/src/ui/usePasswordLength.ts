import { useGet } from './useGet'

// usePasswordLength returns the minimum length of a password, and the least possible one until it is known.
export const usePasswordLength = (): number => useGet('/api/home').data?.password_length ?? 8
