import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { gatewayScene } from "../support/gateway-scene.ts";
import { officialClient } from "../support/official-client.ts";

test.for(["legacy", "modern"] as const)(
  "the official client uses the gateway over stdio in the %s era",
  async (era) => {
    await using here = await gatewayScene({ servers: { fx: stdioServer("conformance") } });
    const asked: unknown[] = [];
    await using official = await officialClient(here, era, { elicitation: { form: {} } }, {}, (client) =>
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        asked.push(params.message);
        return { action: "accept", content: { username: "ada", email: "a@b.c" } };
      }),
    );
    const { client } = official;
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("test_image_content");
    expect(await client.callTool({ name: "test_image_content", arguments: {} })).toMatchObject({
      content: [{ type: "image" }],
    });
    expect(await client.callTool({ name: "test_error_handling", arguments: {} })).toMatchObject({ isError: true });
    const progress: number[] = [];
    await client.callTool(
      { name: "test_tool_with_progress", arguments: {} },
      { onprogress: (each) => progress.push(each.progress) },
    );
    expect(progress).toEqual([0, 50, 100]);
    expect(await client.callTool({ name: "test_elicitation", arguments: { message: "Who?" } })).toMatchObject({
      content: [{ text: expect.stringContaining("accept") }],
    });
    expect(asked).toEqual(['The server "fx" asks: Who?']);
    const { resources } = await client.listResources();
    const [first] = resources;
    expect(await client.readResource({ uri: first?.uri ?? "" })).toMatchObject({ contents: [expect.anything()] });
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(0);
    expect(client.getInstructions()).toContain("fx");
  },
);

test.for(["legacy", "modern"] as const)(
  "the official client of the %s era shows the gateway's own form",
  async (era) => {
    await using folder = await temporaryFolder();
    const notes = join(folder.path, "notes");
    await using here = await gatewayScene({
      servers: { counted: stdioServer("counted", notes) },
      // Without a rule the user is asked.
      rules: "",
    });
    const decisions = ["this conversation", "no"];
    await using official = await officialClient(here, era, { elicitation: { form: {} } }, {}, (client) =>
      client.setRequestHandler("elicitation/create", async () => ({
        action: "accept",
        content: { decision: decisions.shift() ?? "no" },
      })),
    );
    const { client } = official;
    await client.listTools();
    // The yes for the conversation covers the second call; the other tool is asked about.
    for (const text of ["one", "two"])
      expect(await client.callTool({ name: "echo", arguments: { text } })).toMatchObject({ content: [{ text }] });
    expect(await client.callTool({ name: "ask", arguments: { method: "roots/list" } })).toMatchObject({
      isError: true,
    });
  },
);

test.for(["legacy", "modern"] as const)(
  "invalid arguments reach the model of a %s client as a result that names them, and not the server",
  async (era) => {
    await using folder = await temporaryFolder();
    const notes = join(folder.path, "notes");
    await using here = await gatewayScene({
      servers: { counted: stdioServer("counted", notes) },
      fairlead: { clients: { official: { toolBudget: { tools: 1 } } } },
    });
    await using official = await officialClient(here, era);
    const { client } = official;
    await client.listTools();
    const textOf = async (name: string, given: unknown): Promise<unknown> => {
      const args = given as Record<string, unknown>;
      const { isError, content } = await client.callTool({ name, arguments: args });
      expect(isError).toBe(true);
      return content;
    };
    expect(await textOf("ask", { method: 5 })).toEqual([
      { type: "text", text: 'counted.ask has invalid arguments: "method" must be a string' },
    ]);
    // The same through the gateway's own tool, whose arguments also name the tool.
    expect(await textOf("call_tool", { name: "ask", arguments: { method: 5 } })).toMatchObject([
      { text: expect.stringContaining("method") },
    ]);
    expect(await textOf("call_tool", { name: "asks", arguments: {} })).toMatchObject([
      { text: expect.stringContaining('no tool "asks"') },
    ]);
    expect(await textOf("call_tool", { name: "ask", arguments: "method" })).toMatchObject([
      { text: "the arguments of ask must be an object" },
    ]);
    expect(readFileSync(notes, "utf8")).not.toContain("call");
    // What the protocol itself forbids stays a protocol error.
    await expect(client.callTool({ name: "asks", arguments: {} })).rejects.toMatchObject({ code: -32602 });
  },
);
