export const rights = {
} as const
