// sentence returns a message of the server, which begins in lower case, as a sentence of its own. Names at its
// beginning, such as server.listen or that of a target before a colon, stay as they are.
export const sentence = (message: string): string => message.replace(/^\p{Ll}(?=[\p{Ll}’'-]*[ ,;]|$)/u, (first) => first.toUpperCase())
