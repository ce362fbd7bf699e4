// Over HTTP/1.1 a browser has six connections to a service for all its windows, and a window that listens keeps one of them. So only
// four of them listen; the others read now and then. Which ones listen is in the storage that the windows share: every listener
// writes there each second that it is there. Locks of the browser would be simpler, but plain HTTP has none.
export const most = 4;

/** Another window may take the place of one that has not written for so many milliseconds. */
const lease = 5000;

const renewal = 1000;

const name = (n: number) => `belfry.listening.${n}`;

interface Holder {
  by: string;
  at: number;
}

export class Places {
  private own?: number;
  private written = 0;

  constructor(
    private storage: Pick<Storage, "getItem" | "setItem" | "removeItem">,
    private me: string,
  ) {}

  private holder(n: number): Holder | undefined {
    try {
      const h = JSON.parse(this.storage.getItem(name(n)) ?? "null") as Holder | null;
      return h && Math.abs(Date.now() - h.at) < lease ? h : undefined;
    } catch {
      return undefined; // something else has written there
    }
  }

  private write(n: number) {
    this.own = n;
    this.written = Date.now();
    this.storage.setItem(name(n), JSON.stringify({ by: this.me, at: this.written }));
  }

  /** take reports whether this window has a place, and takes a free one if it has none. */
  take(): boolean {
    if (this.keep()) return true;
    for (let n = 0; n < most; n++)
      if (!this.holder(n)) {
        this.write(n);
        return true;
      }
    return false;
  }

  /** keep reports whether this window still has its place: of two that take one at the same moment the later one has it. */
  keep(): boolean {
    if (this.own === undefined) return false;
    const by = this.holder(this.own)?.by;
    if (by !== undefined && by !== this.me) this.own = undefined;
    else if (by === undefined || Date.now() - this.written >= renewal) this.write(this.own);
    return this.own !== undefined;
  }

  /** leave gives the place to another window. */
  leave() {
    if (this.own !== undefined && this.keep()) this.storage.removeItem(name(this.own));
    this.own = undefined;
  }
}

/** placesOf are those of this window; undefined if every window may listen, as with HTTP/2, or if they cannot tell each other. */
export function placesOf(window?: Window): Places | undefined {
  const [page] = (window?.performance.getEntriesByType("navigation") ?? []) as PerformanceNavigationTiming[];
  if (!window || /^h[23]/.test(page?.nextHopProtocol ?? "")) return undefined;
  try {
    const { localStorage } = window;
    localStorage.getItem(name(0));
    return new Places(localStorage, `${Date.now()} ${Math.random()}`);
  } catch {
    return undefined;
  }
}
