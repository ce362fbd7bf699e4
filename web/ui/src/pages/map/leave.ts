// Whoever leaves a page with unsaved changes is asked first, however they leave: by a link, a shortcut of the keyboard, the
// button of the browser, or by closing the tab.
import { useEffect, useRef, useState } from "react";
import { useUnsaved } from "../../parts/leaving";

export interface Leaving {
  /** Set while the question is open. */
  asked: boolean;
  stay: () => void;
  go: () => void;
}

export function useLeave(dirty: boolean): Leaving {
  const [way, setWay] = useState<(() => void) | null>(null);
  const free = useRef(false);
  useUnsaved(dirty);
  useEffect(() => {
    if (!dirty) return;
    free.current = false;
    const here = location.href;
    const closing = (e: BeforeUnloadEvent) => {
      if (!free.current) e.preventDefault();
    };
    // The router moves by pushState and hears popstate; both come by here before it knows.
    const push = history.pushState;
    const guarded: History["pushState"] = (state, unused, url) => {
      const go = () => push.call(history, state, unused, url);
      if (free.current || String(new URL(String(url ?? here), here)) === location.href) go();
      else setWay(() => go);
    };
    history.pushState = guarded;
    const back = (e: PopStateEvent) => {
      if (free.current) return;
      const to = location.href;
      e.stopImmediatePropagation();
      push.call(history, null, "", here);
      setWay(() => () => push.call(history, null, "", to));
    };
    window.addEventListener("beforeunload", closing);
    window.addEventListener("popstate", back, true);
    return () => {
      if (history.pushState === guarded) history.pushState = push;
      window.removeEventListener("beforeunload", closing);
      window.removeEventListener("popstate", back, true);
    };
  }, [dirty]);
  return {
    asked: way !== null,
    stay: () => setWay(null),
    go: () => {
      free.current = true;
      setWay(null);
      way?.();
    },
  };
}
