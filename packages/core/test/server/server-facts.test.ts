import { expect, test } from "vitest";
import { manualClock } from "../support/manual-clock.ts";
import { listsNothing, named, writtenServer } from "./written-server.ts";

const factsOf = (name: string) => ({ era: "legacy", serverInfo: { name, version: "1" }, capabilities: { tools: {} } });

test("a connected server speaks for itself, and any other is known from its last connection", async () => {
  await using at = await writtenServer();
  {
    await using host = await at.run();
    const s = host.gateway.servers.get("s");
    expect(s.facts()).toBeUndefined();
    await at.write(`serve({ ${named("then")} });`);
    await host.start();
    expect(s.facts()).toEqual(factsOf("then"));
  }
  const clock = manualClock();
  await using host = await at.run({ clock });
  const s = host.gateway.servers.get("s");
  expect(s.facts()).toEqual(factsOf("then"));

  await at.write(`serve({ ${named("silent")}, ${listsNothing} }, say);`);
  const connected = new Promise<void>((resolve) => {
    host.on("state", ({ state }) => {
      if (state.status === "connected") resolve();
    });
  });
  const starting = host.start();
  await connected;
  // Its lists are not read yet.
  expect(s.facts()).toEqual(factsOf("then"));
  await clock.pass(3_600_000);
  await starting;
  expect([s.state.status, s.facts()]).toEqual(["disconnected", factsOf("then")]);

  await at.write(`serve({ ${named("now", { instructions: "live" })} });`);
  await host.start();
  expect(s.facts()).toEqual({ ...factsOf("now"), instructions: "live" });
  await host.stop(["s"]);
  expect([s.state.status, s.facts()]).toEqual(["disconnected", { ...factsOf("now"), instructions: "live" }]);
});

test("a server without capabilities in the cache has no facts, but its tools are listed", async () => {
  await using at = await writtenServer();
  await at.write(`serve({ ${named("then")} });`);
  {
    await using host = await at.run();
    await host.start();
  }
  {
    await using host = await at.run();
    const { capabilities: _, ...cached } = (await at.cached(host)) ?? expect.fail("nothing is cached");
    await at.cache(host, cached);
  }
  await using host = await at.run();
  expect([host.tools("s").length, host.gateway.servers.get("s").facts()]).toEqual([1, undefined]);
});

test("what another definition reported is known no more, and neither is that it asks back", async () => {
  await using at = await writtenServer();
  await at.write(`serve({ ${named("then")} });`);
  await using host = await at.run();
  const { servers } = host.gateway;
  await host.start();
  expect(servers.get("s").shareOf()).toBe("all");
  servers.get("s").noteAsksBack();
  expect([servers.get("s").facts(), servers.get("s").shareOf()]).toEqual([factsOf("then"), "client"]);
  await at.redefine("second");
  expect(await host.reload()).toMatchObject({ replaced: ["s"] });
  expect([servers.get("s").facts(), servers.get("s").shareOf()]).toEqual([undefined, "all"]);
  await host.start();
  expect([servers.get("s").facts(), servers.get("s").shareOf()]).toEqual([factsOf("then"), "all"]);
});
