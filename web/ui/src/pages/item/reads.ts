// When the parts of an item's page are read again. The head of the page is what people act on, so it does not wait for the rest.
import { Pacer } from "../../parts/pacer";
import type { Part } from "./changes";

/** The parts that the head of the page is made of. */
const head: Part[] = ["item", "explain"];

const isHead = (p: Part) => head.includes(p);

interface Reader {
  read: (parts: Part[]) => unknown;
  /** How many requests a part needs. */
  requests: (part: Part) => number;
}

export class Reads {
  private head: Pacer;
  private rest: Pacer;

  /** The interval is in milliseconds, between reads of the head, and between requests of the rest. */
  constructor(
    interval: number,
    private reader: Reader,
  ) {
    this.head = new Pacer(interval);
    this.rest = new Pacer(interval);
  }

  /** request reads all parts of the head together as soon as it may be read, and the others one after the other. */
  request(parts: Part[]) {
    if (parts.some(isHead)) this.head.request("head", () => this.reader.read(head));
    this.requestInTurn(parts.filter((p) => !isHead(p)));
  }

  /** requestInTurn reads the parts one after the other: changes of the content are not about the head itself. */
  requestInTurn(parts: Part[]) {
    for (const p of parts) this.rest.request(p, () => this.reader.read([p]), this.reader.requests(p));
  }

  end() {
    this.head.end();
    this.rest.end();
  }
}
