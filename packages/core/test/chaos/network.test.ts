import { badNetwork, behaves, keepsPromise, type NetworkFaults, type Random, webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { chaosHost, echoes, isExplained, within } from "./scene.ts";

const kinds = ["latency", "slices", "cut request", "cut response", "reset", "hole"] as const;

function faultsOf(kind: (typeof kinds)[number], random: Random): NetworkFaults {
  switch (kind) {
    case "latency":
      return { latency: 1 + random(100) };
    case "slices":
      return { slice: 1 + random(20), latency: random(3) };
    case "cut request":
      return { cutUp: 1 + random(800) };
    case "cut response":
      return { cutDown: 1 + random(400) };
    case "reset":
      return { [random(2) === 0 ? "cutUp" : "cutDown"]: 1 + random(400), isReset: true };
    case "hole":
      return { isHole: true };
  }
}

test("over a bad network, a call gives its own result or a named error, and the next one works", {
  timeout: 3_600_000,
}, async () => {
  await using web = await webServer(behaves);
  const seen = new Map<string, number>();
  const lanes = await Promise.all(
    ["a", "b", "c", "d"].map(async (name) => ({ name, network: await badNetwork(Number(new URL(web.origin).port)) })),
  );
  const entries = lanes.map(({ name, network }) => [
    name,
    // Nothing comes out of a hole, so each of these calls takes that long.
    { httpUrl: `http://127.0.0.1:${network.port}/mcp`, timeout: 500 },
  ]);
  {
    await using here = await chaosHost(Object.fromEntries(entries));
    const { host } = here;
    await host.start();
    const free = [...lanes];
    await keepsPromise(
      {
        group: "network",
        promise: "over a bad network a call gives its own result or a named error, and the next call works",
        whole: 600,
        part: 40,
        together: lanes.length,
        load: () => `4 servers at once; ${[...seen].map(([kind, count]) => `${count} × ${kind}`).join(", ")}`,
      },
      async (random, seed) => {
        const lane = free.pop();
        if (lane === undefined) throw new Error("no server is free");
        const kind = kinds[random(kinds.length)] ?? "hole";
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
        try {
          lane.network.set(faultsOf(kind, random));
          const text = `${seed}`;
          try {
            const { content } = await within(60, "a call", host.call(lane.name, "echo", { text }));
            expect(content).toEqual([{ type: "text", text }]);
          } catch (error) {
            if (!isExplained(error)) throw error;
          }
          lane.network.set();
          await works(host, lane.name);
        } finally {
          lane.network.set();
          free.push(lane);
        }
      },
    );
  }
  await Promise.all(lanes.map(({ network }) => network[Symbol.asyncDispose]()));
});

/** On a busy machine a call can take longer than its short timeout, so it is made again. */
async function works(host: Parameters<typeof echoes>[0], server: string): Promise<void> {
  for (let left = 20; ; left -= 1) {
    try {
      return await echoes(host, server, "again");
    } catch (error) {
      if (left === 0 || !isExplained(error)) throw error;
    }
  }
}
