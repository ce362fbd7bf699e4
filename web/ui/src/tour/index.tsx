// The first steps, from a key to a value on a chart. Shown to an administrator of a customer without resources, until it
// has some or the card is put away; afterwards it is in the person menu.
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { sql } from "../api";
import { later } from "../parts/later";
import { useMay } from "../session";

const Steps = later(() => import("./Steps"));

const remembered = "belfry-first-steps";

function read(store: () => Storage): string | null {
  try {
    return store().getItem(remembered);
  } catch {
    return null; // a browser that keeps nothing
  }
}

function keep(store: () => Storage, value: string) {
  try {
    store().setItem(remembered, value);
  } catch {
    // It is shown again next time, then.
  }
}

/**
 * FirstSteps is a card in place of a page that would be empty; `children` is that page, and all that those see who do not need
 * the card: who may not make keys, has put it away, or had objects already. Once it is shown it stays until it is put away or
 * the tab is closed, to see the first value arrive.
 */
export function FirstSteps({ children = null }: { children?: ReactNode }) {
  const may = useMay();
  const [away, setAway] = useState(() => read(() => localStorage) === "away");
  const [begun] = useState(() => read(() => sessionStorage) === "begun");
  const empty = useQuery({
    queryKey: ["first steps", "empty"],
    queryFn: async () => {
      const found = await sql("SELECT name FROM objectstatus WHERE kind='object'", { rows: 1 });
      if (found.rows.length === 0) keep(() => sessionStorage, "begun");
      return found.rows.length === 0;
    },
    enabled: may.administer && !away && !begun,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!may.administer || away || !(begun || empty.data)) return children;
  return (
    <Steps
      card
      onAway={() => {
        keep(() => localStorage, "away");
        setAway(true);
      }}
    />
  );
}
