// Where the end of a name begins, which stays in sight when there is no room for all of it.

const kept = 4;
const keptWide = 3; // of scripts and signs that may be as wide as high
/** Shorter names have room enough nearly everywhere. */
const short = 8;
// Letters of scripts that are written from the right are joined to each other; cut apart they would look wrong.
const joined = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
const plain = /^[\u0020-\u02ff]*$/;
let graphemes: Intl.Segmenter | undefined;

/** ending gives the place at which the last few characters of a name begin; 0 when it is not to be divided. */
export function ending(name: string): number {
  if (name.length <= short || joined.test(name)) return 0;
  let at = name.length - kept;
  if (!plain.test(name)) {
    graphemes ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
    const places = Array.from(graphemes.segment(name), (s) => s.index);
    if (places.length <= short) return 0;
    at = places.at(-keptWide) ?? 0;
  }
  // A blank at the end of a box has no width, so it goes to the end of the name.
  while (at > 1 && name[at - 1] === " ") at--;
  return at;
}
