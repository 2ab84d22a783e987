/** Answers that break at every event: a call is done at most once, and its caller learns what became of it. */

import { type CutHow, cuttingServer, eventsBeforeAnswer, scaled } from "@fairlead/test-servers";
import { connect } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import type { ConnectionOptions } from "../../src/server/connection.ts";
import { Fleet } from "./fleet.ts";

const ways: readonly CutHow[] = ["reset", "end", "torn"];

interface Case {
  readonly how: CutHow;
  readonly cuts: readonly number[];
}

/** Every place for one cut and for two, in every way; then again, until there are as many as asked for. */
function cases(count: number): readonly Case[] {
  const places = Array.from({ length: eventsBeforeAnswer + 1 }, (_, place) => place);
  const cuts = [...places.map((place) => [place]), ...places.flatMap((one) => places.map((other) => [one, other]))];
  const all = ways.flatMap((how) => cuts.map((each) => ({ how, cuts: each })));
  return Array.from({ length: Math.max(count, all.length) }, (_, index) => all[index % all.length] ?? all[0]).flatMap(
    (each) => (each ? [each] : []),
  );
}

describe.each(["legacy", "modern"] as const)("%s", (era) => {
  test("effects are never more than calls, and every call succeeds or says that it was lost", async () => {
    await using server = await cuttingServer(era);
    const open: ConnectionOptions["open"] = ({ signal, onNotification }) =>
      connect(
        { kind: "http", url: server.url, headers: {} },
        { clientInfo: { name: "test", version: "1" }, proxyFor: () => undefined, signal, onNotification },
      );
    const fleet = new Fleet({ s: { open } }, { recover: true });
    const outcomes = { succeeded: 0, lost: 0 };

    async function call(key: string, { cuts, how }: Case): Promise<void> {
      const ready = await fleet.ready("s");
      try {
        const { content } = await ready.callTool("count", { key, cuts, how });
        expect(content).toEqual([{ type: "text", text: `did ${key}` }]);
        outcomes.succeeded += 1;
      } catch (error) {
        expect(error).toBeInstanceOf(HostError);
        expect(error).toMatchObject({ code: "lost", message: expect.stringContaining("may or may not have run") });
        outcomes.lost += 1;
      }
    }

    const calls = cases(scaled(500));
    for (let start = 0; start < calls.length; start += 10)
      await Promise.all(calls.slice(start, start + 10).map((each, index) => call(`c${start + index}`, each)));
    // The server has been there all the time: it is not blamed for its streams.
    expect(fleet.get("s").getStatus()).toBe("connected");
    await fleet.stop();
    expect([...server.effects.values()]).toEqual(calls.map(() => 1));
    expect(outcomes.succeeded + outcomes.lost).toBe(calls.length);
    // With a place to go on from, only a stream that broke before it gave one is lost.
    const early = calls.filter(({ cuts }) => cuts[0] === 0).length;
    expect(outcomes.lost).toBe(era === "legacy" ? early : calls.length);
  });
});
