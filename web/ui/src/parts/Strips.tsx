// What is said above every page: that it is old, that parts of it are missing, or that a note was replaced.
import { Button, Group, Text } from "@mantine/core";
import { IconAlertTriangle, IconPlugConnectedX, IconRefresh } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef, useSyncExternalStore } from "react";
import { old } from "../client";
import { byService } from "../clock";
import { type Lost, useLive, useLost } from "../live";
import { checkBuild, newer } from "../upgrade";
import { above } from "./above";
import { savedNotes } from "./actions/saved";
import { MissingDays } from "./MissingDays";
import { messageOf } from "./Page";
import { local } from "./Time";

/** Strips are as high as what they say; pages that fill the window leave room for that. */
export function Strips() {
  const self = useRef<HTMLDivElement>(null);
  const lost = useLost();
  useEffect(() => {
    const box = self.current;
    if (!box) return;
    const root = document.documentElement;
    const watch = new ResizeObserver(() => root.style.setProperty("--strips", `${box.offsetHeight}px`));
    watch.observe(box);
    return () => watch.disconnect();
  }, []);
  return (
    <div ref={self} className="strips">
      {lost ? <Broken lost={lost} /> : <Old />}
      <Newer />
      <MissingDays />
      <Notes />
      <Left />
    </div>
  );
}

/** Notes shows that someone has replaced a note of this page, once one was saved. */
function Notes() {
  const { Shown } = useSyncExternalStore(savedNotes.subscribe, savedNotes.get);
  return Shown ? <Shown /> : null;
}

/** Left is what pages have left behind. */
function Left() {
  const all = useSyncExternalStore(above.subscribe, above.get);
  return all.map((Shown, n) => <Shown key={String(n)} />);
}

function Strip({ icon, children, tools }: { icon: ReactNode; children: ReactNode; tools?: ReactNode }) {
  return (
    <Group className="strip" role="status" gap="sm" wrap="nowrap">
      {icon}
      <Text size="sm" flex={1}>
        {children}
      </Text>
      {tools}
    </Group>
  );
}

/** Broken says that changes do not arrive, and since when. */
function Broken({ lost }: { lost: Lost }) {
  const since = local(byService(lost.since));
  return (
    <Strip icon={<IconPlugConnectedX size={18} />}>
      {lost.reads
        ? "Four other windows of this browser receive changes at once; this one reloads everything every ten seconds. It receives them, too, when one of the four is closed or hidden."
        : lost.why === undefined
          ? `Not connected since ${since}. The page shows the state of that time; it continues automatically when the service is back.`
          : `Changes do not arrive since ${since}: ${lost.why} Everything is reloaded from time to time.`}
    </Strip>
  );
}

/** Old says that some of what is shown could not be read again, although the service answers. */
function Old() {
  const shown = useSyncExternalStore(old.subscribe, old.get);
  if (!shown) return null;
  return (
    <Strip icon={<IconAlertTriangle size={18} />}>
      Part of this page is from {local(byService(shown.since))} and could not be read since: {messageOf(shown.error)} It
      is tried again.
    </Strip>
  );
}

/** Newer says that the service has another version of the interface. After each break of the connection it looks. */
function Newer() {
  const shown = useSyncExternalStore(newer.subscribe, newer.get);
  useLive({ resync: () => void checkBuild() });
  if (!shown) return null;
  return (
    <Strip
      icon={<IconRefresh size={18} />}
      tools={
        <Button size="compact-sm" variant="default" onClick={() => location.reload()}>
          Reload
        </Button>
      }
    >
      The service has another version of this page. Reload to use it.
    </Strip>
  );
}
