// Parts of the interface that are loaded when they are first shown.
import { Button } from "@mantine/core";
import { type ComponentType, type ReactNode, useEffect, useState } from "react";
import { reloadFor } from "../upgrade";
import { Waiting } from "./Page";

/** NotLoaded is a part of the interface that did not come. */
export class NotLoaded extends Error {
  constructor(cause: unknown) {
    super("A part of this page could not be loaded.", { cause });
  }
}

/** Part is a component that is loaded when it is first shown, or before by `load`. */
export type Part<P extends object> = ComponentType<P> & { load: () => Promise<void> };

/**
 * later makes a component of a file that is loaded when it is first shown. React's own lazy keeps the loading sign for
 * 300 ms, however fast the file came, and never asks again for one that did not come.
 */
export function later<P extends object>(
  from: () => Promise<{ default: ComponentType<P> }>,
  waiting: (props: P) => ReactNode = () => <Waiting />,
): Part<P> {
  let loaded: ComponentType<P> | undefined;
  const load = async () => {
    loaded ??= (await from()).default;
  };
  // biome-ignore lint/correctness/noComponentHookFactories: later is called once for a file, not while something is drawn
  function Later(props: P) {
    const [Shown, show] = useState(() => loaded);
    const [failed, fail] = useState<NotLoaded>();
    useEffect(() => {
      if (!Shown)
        load().then(
          () => show(() => loaded),
          async (e) => {
            if (!(await reloadFor())) fail(new NotLoaded(e));
          },
        );
    }, [Shown]);
    if (failed) throw failed;
    return Shown ? <Shown {...props} /> : waiting(props);
  }
  return Object.assign(Later, { load });
}

/** Opening is shown for a dialog that is being loaded: keys are not for the page behind it. It is seen if that takes a moment. */
export const Opening = ({ onClose }: { onClose: () => void }) => (
  <div className="failed-dialog opening" data-opening>
    <Waiting />
    <Button size="xs" variant="default" onClick={onClose}>
      Cancel
    </Button>
  </div>
);
