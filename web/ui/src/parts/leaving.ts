import { useEffect } from "react";

/** useLeaving lets the browser ask before a tab is closed in which something would be lost, or left half done. */
export function useLeaving(busy: boolean) {
  useEffect(() => {
    if (!busy) return;
    const ask = (e: BeforeUnloadEvent) => e.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [busy]);
}
