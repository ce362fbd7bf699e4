// The pages of the parameters area. Who may open one is decided by the service; here it is decided what is offered.
import {
  IconBuilding,
  IconClipboardHeart,
  IconDatabase,
  IconGauge,
  IconKey,
  IconPackage,
  type IconProps,
  IconRuler2,
  IconUserCircle,
  IconUsers,
} from "@tabler/icons-react";
import type { ComponentType } from "react";
import { later } from "../../parts/later";

export type Who = "all" | "administrator" | "instance";

export interface Part {
  path: string;
  label: string;
  group: string;
  who: Who;
  icon: ComponentType<IconProps>;
  page: ComponentType;
}

export const parts: Part[] = [
  {
    path: "keys",
    label: "API keys",
    group: "Access",
    who: "administrator",
    icon: IconKey,
    page: later(() => import("./Keys")),
  },
  {
    path: "users",
    label: "Users",
    group: "Access",
    who: "administrator",
    icon: IconUsers,
    page: later(() => import("./Users")),
  },
  {
    path: "customers",
    label: "Customers",
    group: "Access",
    who: "instance",
    icon: IconBuilding,
    page: later(() => import("./Customers")),
  },
  {
    path: "classes",
    label: "Classes",
    group: "What is monitored",
    who: "all",
    icon: IconGauge,
    page: later(() => import("./Classes")),
  },
  {
    path: "packages",
    label: "Packages",
    group: "What is monitored",
    who: "all",
    icon: IconPackage,
    page: later(() => import("./Packages")),
  },
  {
    path: "policies",
    label: "Policies",
    group: "What is monitored",
    who: "administrator",
    icon: IconRuler2,
    page: later(() => import("./Policies")),
  },
  {
    path: "retention",
    label: "Retention",
    group: "The service",
    who: "administrator",
    icon: IconDatabase,
    page: later(() => import("./Retention")),
  },
  {
    path: "health",
    label: "Health",
    group: "The service",
    who: "instance",
    icon: IconClipboardHeart,
    page: later(() => import("./Health")),
  },
  {
    path: "account",
    label: "Your account",
    group: "You",
    who: "all",
    icon: IconUserCircle,
    page: later(() => import("./Account")),
  },
];
