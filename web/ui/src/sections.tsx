// The places of the interface, for the menu, the palette and the shortcuts.
import {
  IconActivity,
  IconAdjustments,
  IconChartTreemap,
  IconClockPause,
  IconFileImport,
  IconListDetails,
  IconMap2,
  type IconProps,
} from "@tabler/icons-react";
import type { ComponentType } from "react";

export interface Section {
  path: string;
  label: string;
  about: string;
  icon: ComponentType<IconProps>;
  /** After g. */
  key: string;
}

export const sections: Section[] = [
  { path: "/status", label: "Status", about: "Everything, the worst first", icon: IconListDetails, key: "s" },
  { path: "/map", label: "Map", about: "Views as they are drawn", icon: IconMap2, key: "m" },
  { path: "/treemap", label: "Tree map", about: "All objects on one page", icon: IconChartTreemap, key: "t" },
  { path: "/events", label: "Events", about: "What happened", icon: IconActivity, key: "e" },
  {
    path: "/maintenance",
    label: "Maintenance",
    about: "Windows that are open or planned",
    icon: IconClockPause,
    key: "w",
  },
  {
    path: "/provisioning",
    label: "Provisioning",
    about: "Create and change many things at once",
    icon: IconFileImport,
    key: "p",
  },
  {
    path: "/parameters",
    label: "Parameters",
    about: "Keys, users, classes, packages, health",
    icon: IconAdjustments,
    key: "k",
  },
];
