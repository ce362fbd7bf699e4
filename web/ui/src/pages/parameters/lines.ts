/** lines gives what is in the lines of a text, without empty ones. */
export const lines = (text: string) =>
  text
    .split("\n")
    .map((v) => v.trim())
    .filter(Boolean);
