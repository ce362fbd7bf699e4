import { Anchor, Breadcrumbs, Text } from "@mantine/core";
import { Link } from "wouter";
import type { TreeItem } from "../../api";
import { link } from "../../links";
import { useCrumbs } from "./tree";

/** Crumbs are the way up. */
export function Crumbs({ view }: { view: TreeItem }) {
  const way = useCrumbs(view);
  return (
    <nav aria-label="Way to this view">
      <Breadcrumbs
        separatorMargin={6}
        styles={{ root: { flexWrap: "wrap", rowGap: 2 }, breadcrumb: { whiteSpace: "normal" } }}
      >
        {way.map((w) => (
          <Anchor
            key={`${w.resource ?? ""}/${w.name}`}
            component={Link}
            href={link.map(w.name, w.resource)}
            size="sm"
            className="name"
          >
            {w.name}
          </Anchor>
        ))}
        <Text size="sm" aria-current="page" className="name">
          {view.name}
        </Text>
      </Breadcrumbs>
    </nav>
  );
}
