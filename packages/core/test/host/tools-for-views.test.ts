import { join } from "node:path";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHost } from "../../src/host.ts";
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

test.each([
  ["legacy", true, undefined, true],
  ["modern", true, undefined, true],
  ["legacy", true, "off", false],
  ["modern", true, "off", false],
  ["legacy", undefined, undefined, false],
  ["modern", undefined, undefined, false],
] as const)(
  "a program that shows views tells a %s server so (option: %s, setting: %s)",
  async (era, views, setting, expected) => {
    await using folder = await temporaryFolder();
    await folder.write("view.json", {});
    await using host = await createHost({
      settings: {
        mcpServers: { v: stdioServer("views", era, join(folder.path, "view.json")) },
        ...(setting && { fairlead: { servers: { v: { views: setting } } } }),
      },
      workspace: false,
      environment: { env: { ...process.env }, home: folder.path, cwd: folder.path, platform: process.platform },
      ...(views && { views }),
    });
    await host.start();
    const { content } = await host.call("v", "declared");
    expect(JSON.stringify(content).includes("io.modelcontextprotocol/ui")).toBe(expected);
    expect(host.catalog("v")?.tools.map(({ name }) => name)).toEqual(
      expected ? ["show", "poll", "declared"] : ["show", "declared"],
    );
  },
);
