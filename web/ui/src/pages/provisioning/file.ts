// From a file to its text, and back. What is not UTF-8 is said to be so: read as if it were, names would be stored wrongly.

/** The service takes no more in one body. */
const most = 256 << 20;

export class Unreadable extends Error {
  constructor(
    message: string,
    /** Whether it may be text of another encoding. */
    readonly encoding: boolean,
  ) {
    super(message);
  }
}

/** textOf reads a file. */
export async function textOf(file: File, encoding = "utf-8"): Promise<string> {
  if (file.size > most)
    throw new Unreadable(
      `${file.name} has ${Math.ceil(file.size / 1048576)} MB; this page takes 256 MB. Use the command line for it.`,
      false,
    );
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  if (head[0] === 0x50 && head[1] === 0x4b)
    throw new Unreadable(`${file.name} is a workbook, not CSV. Save it as “CSV UTF-8” and choose that file.`, false);
  const utf16 =
    head[0] === 0xff && head[1] === 0xfe ? "utf-16le" : head[0] === 0xfe && head[1] === 0xff ? "utf-16be" : "";
  const parts: string[] = [];
  const decoder = new TextDecoderStream(utf16 || encoding, { fatal: true });
  try {
    const reader = file
      .stream()
      .pipeThrough(decoder as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
      .getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
    }
  } catch (e) {
    if (!(e instanceof TypeError)) throw e;
    throw new Unreadable(
      `${file.name} is not UTF-8. Save it as “CSV UTF-8”, or have it read as Western European.`,
      true,
    );
  }
  return parts.join("");
}

/** download hands a text to the person as a file. */
export function download(name: string, text: string | Blob) {
  const at = URL.createObjectURL(typeof text === "string" ? new Blob([text], { type: "text/csv" }) : text);
  const a = document.createElement("a");
  a.href = at;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(at), 10_000);
}
