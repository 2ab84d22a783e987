import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { desk } from "../support/turn-desk.ts";

test("a tool for views only is offered to no model, is found by no search, and can be called by the user", async () => {
  const tool = (name: string, visibility?: readonly string[]): object => ({
    name,
    description: `${name} of the weather`,
    inputSchema: { type: "object" },
    _meta: { ui: { resourceUri: "ui://weather/a.html", visibility } },
  });
  await using at = await desk({
    servers: (path) => ({ w: stdioServer("contender", path("w.json"), "w") }),
  });
  await at.write("w.json", { tools: [tool("show"), tool("poll", ["app"]), tool("both", ["model", "app"])] });
  const { host } = at;
  await host.start();
  expect(host.tools("w").map(({ serverToolName }) => serverToolName)).toEqual(["show", "both"]);
  expect(host.toolRegistry.getFunctionDeclarations().map(({ name }) => name)).toEqual(["show", "both"]);
  expect(host.quarantined("w")).toEqual([
    { server: "w", serverToolName: "poll", reason: "only views of its server (MCP Apps) may call it" },
  ]);
  const found = await host.searchTools("poll of the weather");
  expect(found.map(({ name }) => name)).not.toContain("poll");
  await expect(host.callAsModel("poll")).rejects.toMatchObject({ code: "tool_unknown" });
  expect(await host.call("w", "poll")).toMatchObject({ content: [{ type: "text", text: "w" }] });
});
