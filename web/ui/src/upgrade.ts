// A page outlives the files it came from: after an upgrade the service has others, and parts that were not loaded yet are gone.
import { unsaved } from "./parts/leaving";

const reloaded = "belfry-reloaded";
const often = 5 * 60_000; // a page that reloads itself more often than this would only get in the way

/** The script that this page began with. Its name has a digest of the build in it. */
const entry = document.querySelector('script[type="module"][src]')?.getAttribute("src");

/** sameBuild reports whether the service still has the build of this page. Undefined: it does not answer. */
async function sameBuild(): Promise<boolean | undefined> {
  try {
    const answer = await fetch("/ui/", { cache: "no-store" });
    return answer.ok ? (await answer.text()).includes(`"${entry}"`) : undefined;
  } catch {
    return undefined;
  }
}

let offered = false;
const readers = new Set<() => void>();

/** newer says whether people are asked to load the page again. */
export const newer = {
  get: () => offered,
  subscribe: (again: () => void) => {
    readers.add(again);
    return () => readers.delete(again);
  },
};

function offer() {
  offered = true;
  for (const again of [...readers]) again();
}

/** checkBuild asks people to load the page again if the service has another build by now. */
export async function checkBuild(): Promise<void> {
  if (!offered && (await sameBuild()) === false) offer();
}

/**
 * reloadFor loads the page again when a part of it did not come although the service answers, and reports whether it does. Where
 * something would be lost, or that was tried a moment ago, people are asked.
 */
export async function reloadFor(): Promise<boolean> {
  if ((await sameBuild()) === undefined) return false; // the service is away; the part may come when it is back
  if (unsaved() || !mayReload()) {
    offer();
    return false;
  }
  location.reload();
  return true;
}

/** mayReload reports whether the page has not reloaded itself lately, and notes that it does now. */
function mayReload(): boolean {
  try {
    if (Date.now() - Number(sessionStorage.getItem(reloaded)) < often) return false;
    sessionStorage.setItem(reloaded, String(Date.now()));
    return true;
  } catch {
    return false; // a browser that keeps nothing: it would continue for ever
  }
}
