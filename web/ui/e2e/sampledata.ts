// Sample data to look at: every status, what operators have done about it, nested views with drawings, a few hours of data,
// log lines, events, and names of the kind that break pages.
import type { Service } from "./service";

/** Names that must appear as text, whatever they hold. */
export const hostile = {
  script: "<script>alert(1)</script>",
  rtl: "شبكة المكتب",
  emoji: "🔔 bell 👩‍💻",
  long: "long name ".repeat(26).slice(0, 255).trimEnd(),
};

/** Objects that have, or will keep, a status of their own. */
export const items = {
  ok: { object: "cpu", resource: "web01" },
  warning: { object: "disk /", resource: "web01" },
  major: { object: "queue", resource: "shop" },
  critical: { object: "disk /var", resource: "db01" },
  unavailable: { object: "ping", resource: "router" },
  unknown: { object: "memory", resource: "web02" },
  acknowledged: { object: "disk /backup", resource: "db01" },
  unmanaged: { object: "disk /tmp", resource: "web02" },
};

const cell = (text: string | number) =>
  /[",\n]/.test(String(text)) ? `"${String(text).replaceAll('"', '""')}"` : text;
const line = (...cells: (string | number)[]) => cells.map(cell).join(",");

async function classes(s: Service) {
  const used = (unit: string) => ({
    indicators: [
      {
        n: 1,
        name: "Used",
        unit,
        thresholds: [
          { when: ">= 80", status: 1 },
          { when: ">= 95", status: 3, recover: "< 90" },
        ],
      },
    ],
    interval: "10m",
  });
  await s.json("PUT", "/api/classes/disk", used("%"));
  await s.json("PUT", "/api/classes/cpu", {
    indicators: [
      { n: 1, name: "Busy", unit: "%", thresholds: [{ when: ">= 90", status: 2 }] },
      { n: 2, name: "Load", thresholds: [{ when: ">= 16", status: 1 }] },
    ],
    interval: "10m",
  });
  await s.json("PUT", "/api/classes/queue", {
    indicators: [
      { n: 1, name: "Waiting", thresholds: [{ when: "> 100", status: 2 }] },
      { n: 2, name: "State", type: "string", thresholds: [{ when: "<> ok", status: 1 }] },
    ],
    log: { separator: "\t", columns: ["user", "action"] },
    interval: "10m",
  });
}

async function tree(s: Service) {
  await s.csv(
    "/api/provisioning/view",
    "name,view,autoarrange,posx,posy,width,height",
    "Europe,MAIN,none,20,40,60,60",
    "Vienna,Europe,linear,40,60,40,40",
    "Linz,Europe,none,40,220,40,40",
    "America,MAIN,none,20,200,60,60",
    line(hostile.script, "America", "none", 40, 40, 30, 30),
    line(hostile.rtl, "America", "none", 40, 160, 30, 30),
    line(hostile.emoji, "America", "none", 40, 280, 30, 30),
    line(hostile.long, "America", "none", 160, 40, 30, 30),
  );
  await s.csv(
    "/api/provisioning/custom",
    "name,view,posx,posy",
    "web01,Vienna,20,20",
    "web02,Vienna,20,140",
    "db01,Linz,60,60",
    "router,Linz,60,240",
    "shop,Europe,180,60",
    line(`${hostile.script} server`, hostile.script, 20, 20),
    line(`خادم ${hostile.rtl}`, hostile.rtl, 20, 20),
    line(`${hostile.emoji} server`, hostile.emoji, 20, 20),
    line(`${hostile.long.slice(0, 248)} server`, hostile.long, 20, 20),
  );
  await s.csv(
    "/api/provisioning/view",
    "name,view,resname,class",
    "Disks,db01,db01,folder",
    "Old disks,Disks,db01,folder",
    "Pages,shop,shop,folder",
  );
  await s.csv("/api/provisioning/label", "name,view,text,size,posx,posy", "Title,Linz,Data centre Linz,18,10,20");
  await s.csv("/api/provisioning/link", "name,view,from,to,text", "Uplink,Linz,db01,router,10 Gbit/s");
  await s.csv("/api/provisioning/shortcut", "name,view,target,posx,posy", "To Vienna,Linz,Vienna,180,60");
  await s.csv("/api/provisioning/object", "name,resname,view,class", "memory,web02,web02,memory");
}

/** course makes values that look measured, and are the same every time. */
const course = (i: number, base: number, swing: number) =>
  Math.round((base + swing * Math.sin(i / 5) + (swing / 4) * Math.sin(i * 1.7)) * 100) / 100;

const step = 300; // seconds

async function data(s: Service) {
  const now = Math.floor(Date.now() / 1000);
  const rows = ["type,resname,view,class,object,i1,i2,timestamp"];
  const points = 48; // four hours
  const series = (
    resource: string,
    view: string,
    cls: string,
    object: string,
    values: (i: number) => (string | number)[],
  ) => {
    for (let i = 0; i < points; i++) {
      const [i1, i2 = ""] = values(i);
      rows.push(line("data", resource, view, cls, object, i1 ?? "", i2, now - (points - 1 - i) * step));
    }
  };
  series("web01", "web01", "cpu", "cpu", (i) => [course(i, 35, 20), course(i, 4, 2)]);
  series("web01", "web01", "disk", "disk /", (i) => [Math.round(70 + i / 3.6)]);
  series("web02", "web02", "cpu", "cpu", (i) => [course(i + 9, 55, 25), course(i + 9, 6, 3)]);
  series("web02", "web02", "disk", "disk /tmp", (i) => [course(i, 50, 10)]);
  series("db01", "Disks", "disk", "disk /var", (i) => [i > 44 ? 97 : course(i, 60, 5)]);
  series("db01", "Old disks", "disk", "disk /backup", (i) => [i > 30 ? 96 : 78]);
  series("router", "router", "ping", "ping", (i) => [course(i, 12, 4)]);
  series("shop", "Pages", "queue", "queue", (i) => [i > 40 ? 140 + i : course(i, 20, 15), "ok"]);
  for (const [i, n] of Object.values(hostile).entries()) {
    const resource = [
      `${hostile.script} server`,
      `خادم ${hostile.rtl}`,
      `${hostile.emoji} server`,
      `${hostile.long.slice(0, 248)} server`,
    ][i];
    if (resource) series(resource, resource, "disk", n, (k) => [i === 1 ? 85 : course(k, 40, 10)]);
  }
  await s.csv("/api/send", ...rows);
  const texts = ["anna\tlogged in", "anna\tordered 4711", "omar\tpaid 4712", `mallory\t${hostile.script}`];
  await s.csv(
    "/api/send",
    "type,resname,object,log,timestamp",
    ...Array.from({ length: 24 }, (_, i) => line("log", "shop", "queue", texts[i % 4] ?? "", now - i * 240)),
  );
  const dead = items.unavailable;
  const answer = await s.call("GET", `/d?resname=${dead.resource}&o=${dead.object}&n=yes`);
  if (answer.status !== 200) throw new Error(`no response was not taken: ${await answer.text()}`);
}

async function operators(s: Service) {
  const on = (i: { object: string; resource: string }) => ({ items: [i.object], resname: i.resource });
  await s.json("POST", "/api/ackmanagenote/objects", { ...on(items.acknowledged), ack: "the new disk is on its way" });
  await s.json("POST", "/api/ackmanagenote/objects", {
    ...on(items.unmanaged),
    isunmanaged: true,
    unmanageifred: false,
    collectunmanage: true,
    collectorunmanage: true,
    unmanagenote: "being cleaned up",
  });
  const planned = { isunmanaged: true, unmanageifred: false, collectunmanage: true, collectorunmanage: true };
  await s.json("POST", "/api/ackmanagenote/resources", {
    ...{ items: ["shop", `${hostile.script} server`], ...planned, window: "weekly backup", unmanagenote: "tapes" },
    ...{ fromdatetime: "2098-01-06T22:00", todatetime: "2098-01-07T04:00", timezone: "Europe/Vienna" },
    rrule: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
  });
  await s.json("POST", "/api/ackmanagenote/resources", {
    ...{ items: ["shop"], ...planned, fromdatetime: "2098-02-01T08:00Z", todatetime: "2098-02-01T09:00Z" },
  });
  await s.json("POST", "/api/ackmanagenote/objects", {
    ...on(items.warning),
    note: "Ask Kim before deleting anything here.",
  });
  await s.json("POST", "/api/ackmanagenote/views", {
    items: ["Vienna"],
    note: `Rack 4. ${hostile.script} ${hostile.emoji}`,
  });
}

/** fillWithSamples fills an empty service. */
export async function fillWithSamples(s: Service): Promise<void> {
  await classes(s);
  await tree(s);
  await data(s);
  await operators(s);
}
