import { join } from "node:path";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { gatewayScene } from "../support/gateway-scene.ts";

test.for(["legacy", "modern"] as const)(
  "a %s client that calls a tool without having listed it reaches the first server in the settings, also if only a later one has a cached catalog",
  async (era) => {
    await using folder = await temporaryFolder();
    const home = join(folder.path, "home");
    const work = join(folder.path, "work");
    const notes = (name: string): string => join(folder.path, `${name}.txt`);
    const server = (name: string) => stdioServer("counted", notes(name), "", name);
    {
      await using earlier = await gatewayScene({ servers: { later: server("later") }, home, work });
      await (await earlier.client({ era })).request("tools/list", {});
    }
    await using scene = await gatewayScene({ servers: { first: server("first"), later: server("later") }, home, work });
    const client = await scene.client({ era });
    await client.request("tools/call", { name: "echo", arguments: {} });
    expect(await folder.read("first.txt")).toContain("call");
    expect(await folder.read("later.txt")).not.toContain("call");
  },
);
