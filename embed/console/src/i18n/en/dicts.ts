export const dicts = {
} as const
