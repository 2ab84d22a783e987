import { expect, test } from "vitest";
import type { ServerNews } from "../../src/events.ts";
import { LogLimit } from "../../src/server/log-limit.ts";
import { manualClock } from "../support/manual-clock.ts";

test("log messages have a rate; how many were dropped is said before the next one, and at the end", async () => {
  const clock = manualClock();
  const emitted: ServerNews[] = [];
  const logs = new LogLimit("s", clock, (news) => emitted.push(news));
  const send = (count: number): void => {
    for (let left = count; left > 0; left -= 1) logs.push({ type: "log", server: "s", level: "info", data: "x" });
  };
  const said = (): unknown[] => emitted.flatMap((news) => (news.type === "log" && news.data !== "x" ? news.data : []));
  send(3000);
  expect(emitted).toHaveLength(1000);
  await clock.pass(100);
  send(11);
  expect(emitted).toHaveLength(1000 + 1 + 10);
  expect(said()).toEqual(["2,000 log messages dropped: the server sent more than 100 per second"]);
  logs.flush();
  logs.flush();
  expect(said()[1]).toBe("1 log messages dropped: the server sent more than 100 per second");
  expect(said()).toHaveLength(2);
});

test("the message about dropped log messages is a warning of the same server", () => {
  const emitted: ServerNews[] = [];
  const logs = new LogLimit("s", manualClock(), (news) => emitted.push(news));
  for (let count = 0; count < 1001; count += 1) logs.push({ type: "log", server: "s", level: "info", data: count });
  logs.flush();
  expect(emitted.slice(-2)).toEqual([
    { type: "log", server: "s", level: "info", data: 999 },
    {
      type: "log",
      server: "s",
      level: "warning",
      data: "1 log messages dropped: the server sent more than 100 per second",
    },
  ]);
});
