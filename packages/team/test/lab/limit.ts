/** A limit that four replicas share. */

import { type Bar, bar, ready, reasons } from "./bars.ts";
import type { Lab } from "./lab.ts";

/** Callers ask for more than the limit allows. The lab's settings have the limit for its server. */
export async function measureLimit(
  lab: Lab,
  { rate, share, seconds = 10 }: { rate: number; share: number; seconds?: number },
): Promise<readonly Bar[]> {
  await ready(lab.replicas);
  await using load = lab.callers(32);
  load.start();
  // First the hosts of the users connect, and what has collected in the bucket is used up.
  while (load.book.filter(({ why }) => why.includes("too many requests")).length < 100) await pause(50);
  const begin = performance.now();
  await pause(1000 * seconds);
  const end = performance.now();
  await load.stop();
  const done = load.book.filter(({ outcome, begun }) => outcome === "done" && begun >= begin && begun < end);
  const perSecond = (1000 * done.length) / (end - begin);
  const windows = Array.from({ length: seconds }, (_, at) => {
    const from = begin + 1000 * at;
    return done.filter(({ begun }) => begun >= from && begun < from + 1000).length;
  });
  const most = Math.max(...windows);
  const others = load.book.filter(({ outcome, why }) => outcome !== "done" && !why.includes("too many requests"));
  const title = `limit ${rate}/s over ${lab.replicas.length} replicas`;
  return [
    bar(title, "only the limit refuses", `${others.length} others${reasons(others)}`, others.length === 0),
    {
      title: "  over 10 s",
      limit: `${rate}/s ± 5 %`,
      measured: `${perSecond.toFixed(1)}/s`,
      isMet: Math.abs(perSecond / rate - 1) <= 0.05,
      isTime: true,
    },
    bar(
      "  in one second",
      `≤ ${rate} + ${lab.replicas.length} shares`,
      `${most}`,
      most <= rate + lab.replicas.length * share,
    ),
  ];
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
