/** lines gives what stands in the lines of a text, without empty ones. */
export const lines = (text: string) =>
  text
    .split("\n")
    .map((v) => v.trim())
    .filter(Boolean);
