import { hostileServers, keepsPromise, stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { chaosHost, echoes, heldLoad, isExplained, within } from "./scene.ts";

/** Short, because many of the servers never answer. */
const limits = { limits: { callTotal: 4000 } };

test("a hostile server neither ends nor stops the host, and its neighbour answers", {
  timeout: 3_600_000,
}, async () => {
  await using servers = await hostileServers();
  const { all } = servers;
  const behaviours = new Set(all.map(({ behaviour }) => behaviour)).size;
  expect(behaviours).toBeGreaterThanOrEqual(60);
  const held = heldLoad();
  await keepsPromise(
    {
      group: "hostile",
      promise: "a hostile or broken server ends in a result or a named error; the host and its neighbour go on",
      whole: all.length,
      part: 40,
      together: 4,
      load: () => `${behaviours} behaviours × 2 eras × stdio and HTTP, 4 hosts at once; ${held.text()}`,
    },
    async (random, seed) => {
      // A whole run takes each of them in turn, and a part of it takes some of each kind.
      const server = all[(seed * 7919) % all.length];
      if (server === undefined) throw new Error("there are no hostile servers");
      const name = `${server.behaviour}, ${server.era}, ${server.transport}`;
      try {
        await using here = await chaosHost(
          { odd: { ...servers.entry(server, random(1e9)), timeout: 2000 }, good: stdioServer("well-behaved") },
          limits,
        );
        const { host } = here;
        await within(60, "the start", host.start());
        const call = within(60, "a call of the hostile server", host.call("odd", "echo", { text: "x" }));
        const [outcome] = await Promise.allSettled([call, echoes(host, "good", "here")]);
        if (outcome.status === "rejected" && !isExplained(outcome.reason)) throw outcome.reason;
        await echoes(host, "good", "again");
      } catch (error) {
        throw new Error(name, { cause: error });
      }
    },
  );
  held.stop();
});
