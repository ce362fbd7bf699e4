// What would be lost if the page went away.
import { useEffect } from "react";

const works = new Set<object>();
const typed = new Set<HTMLInputElement | HTMLTextAreaElement>();

globalThis.document?.addEventListener("input", ({ target: t }) => {
  if ((t instanceof HTMLInputElement && t.type !== "search") || t instanceof HTMLTextAreaElement) typed.add(t);
});

/** unsaved reports whether someone is in the middle of something: edits, a dialog, text typed into a form. */
export function unsaved(): boolean {
  for (const t of typed) if (!t.isConnected) typed.delete(t);
  return works.size > 0 || !!document.querySelector("[role=dialog]") || [...typed].some((t) => t.value !== "");
}

/** useUnsaved notes that there is something to lose. */
export function useUnsaved(busy: boolean) {
  useEffect(() => {
    if (!busy) return;
    const work = {};
    works.add(work);
    return () => void works.delete(work);
  }, [busy]);
}

/** useLeaving also lets the browser ask before a tab is closed in which something would be lost, or left half done. */
export function useLeaving(busy: boolean) {
  useUnsaved(busy);
  useEffect(() => {
    if (!busy) return;
    const ask = (e: BeforeUnloadEvent) => e.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [busy]);
}
