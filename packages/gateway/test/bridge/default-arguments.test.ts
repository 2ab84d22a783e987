import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { gatewayScene } from "../support/gateway-scene.ts";

test.for(["legacy", "modern"] as const)(
  "a client may leave out a required argument that has a default: the server gets what the client sent (%s)",
  async (era) => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "tools.json");
    const inputSchema = {
      type: "object",
      properties: { page: { type: "string" }, scale: { type: "string", default: "css" } },
      required: ["page", "scale"],
    };
    await writeFile(file, JSON.stringify([{ name: "shot", inputSchema }]));
    await using here = await gatewayScene({ servers: { web: stdioServer("echo-catalog", file) } });
    const client = await here.client({ era });
    // The client sees the schema as the server wrote it.
    expect(await client.request("tools/list")).toMatchObject({ tools: [{ name: "shot", inputSchema }] });
    expect(await client.request("tools/call", { name: "shot", arguments: { page: "a" } })).toMatchObject({
      content: [{ text: JSON.stringify({ name: "shot", args: { page: "a" } }) }],
    });
  },
);
