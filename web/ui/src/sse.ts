// Reads server-sent events. The browser's own reader does not report keep-alive comments.

export interface Message {
  id?: string;
  event: string;
  data: string;
}

/** parser takes text as it arrives and hands on each message that is whole. */
export function parser(on: (m: Message) => void): (text: string) => void {
  let rest = "";
  let m: Message = { event: "message", data: "" };
  const line = (text: string) => {
    if (text === "") {
      if (m.data || m.id) on(m);
      m = { event: "message", data: "" };
      return;
    }
    const [, field, value = ""] = /^([^:]*):? ?(.*)$/.exec(text) ?? [];
    if (field === "id") m.id = value;
    else if (field === "event") m.event = value;
    else if (field === "data") m.data += m.data ? `\n${value}` : value;
  };
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const l of lines) line(l);
  };
}

/** hear reads a stream to its end. `alive` is called whenever something arrives, and be it a comment. */
export async function hear(body: ReadableStream<Uint8Array>, on: (m: Message) => void, alive: () => void) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const take = parser(on);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    alive();
    take(decoder.decode(value, { stream: true }));
  }
}
