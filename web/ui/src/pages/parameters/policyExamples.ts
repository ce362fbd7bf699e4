// Policies to begin with; each shows one thing that a policy can say.
import type { Policy } from "../../api";

export const examples: { label: string; policy: Omit<Policy, "name"> }[] = [
  {
    label: "other thresholds",
    policy: {
      kind: "view",
      item: "MAIN",
      thresholds: [
        {
          class: "network-ping",
          n: 4,
          thresholds: [
            { when: ">= 5", status: 1 },
            { when: ">= 20", status: 3, recover: "< 10", after: 2 },
          ],
        },
      ],
    },
  },
  { label: "a redundant pair", policy: { kind: "view", item: "MAIN", rollup: "2 of m" } },
  {
    label: "office hours",
    policy: {
      kind: "view",
      item: "MAIN",
      period: { timezone: Intl.DateTimeFormat().resolvedOptions().timeZone, times: ["mon-fri 08:00-18:00"] },
    },
  },
  { label: "another interval", policy: { kind: "view", item: "MAIN", interval: "5m" } },
];
