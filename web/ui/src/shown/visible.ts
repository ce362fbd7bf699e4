// Characters that are not seen, or that turn the order of others around, shown as something that is seen. Two names that differ
// in one of them are distinguishable, and none can make a line read otherwise than it is written.

// Control characters, and those that only format. Without line feeds and tabs, which are part of texts; without joiners, of which
// scripts and emoji are made; and without tags, of which flags are.
const unseen = /(?!\u200c|\u200d|[\t\n\r\u{e0020}-\u{e007f}])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const each = new RegExp(unseen, "gu");

function sign(c: string): string {
  const code = c.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code); // ␛ and the like
  if (code === 0x7f) return "␡";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** visible writes a text so that all of it can be seen. */
export const visible = (text: string): string => (unseen.test(text) ? text.replace(each, sign) : text);
