import type { HostPrompt, HostResource } from "@fairlead/core/host";
import type { OfferedTool } from "@fairlead/core/turn/conversation";
import { describe, expect, test } from "vitest";
import { prompts, resources, toolListText, tools } from "../../../src/tui/slash/tools.ts";
import { conversationTool, hostTool, type SlashParts, slashScene } from "../../support/tui/slash-services.ts";

const inConversation = [
  conversationTool("files", "read"),
  conversationTool("files", "write", { enabled: false }),
  conversationTool("docs", "read", { name: "odd" }),
];
const offered = (server: string, serverToolName: string, more: Partial<OfferedTool> = {}): OfferedTool => {
  return { name: serverToolName, server, serverToolName, tokens: 1, offered: true, reason: "it fits", ...more };
};
const hostTools = [hostTool("files", "read"), hostTool("files", "write"), hostTool("docs", "read")];
const scene = ({ host, conversation, ...parts }: SlashParts = {}) =>
  slashScene({
    host: {
      tools: (server?: string) => hostTools.filter((tool) => server === undefined || tool.server === server),
      ...host,
    },
    conversation: { tools: () => inConversation, model: { provider: "manual" }, ...conversation },
    ...parts,
  });

describe("/tools", () => {
  test("suggests its switches and the servers, then the tools that can be switched", () => {
    const { services } = scene();
    const complete = (...before: readonly string[]) => tools.complete?.(before, services);
    const servers = [
      { value: "files", about: "connected" },
      { value: "docs", about: "needs auth" },
    ];
    expect(complete()).toEqual([
      { value: "on", about: "offer switched-off tools to the model again" },
      { value: "off", about: "do not offer tools to the model in this conversation" },
      ...servers,
    ]);
    expect(complete("on")).toEqual([{ value: "files.write", about: "the tool write" }, ...servers]);
    expect(complete("off")).toEqual([
      { value: "files.read", about: "the tool read" },
      { value: "docs.read", about: "the tool read" },
      ...servers,
    ]);
    expect([complete("files"), complete("on", "files.write"), complete("off", "x")]).toEqual([[], [], []]);
  });

  test.each([
    ["off files.read", [["files", "read", false]], "Switched off: files.read", "/tools on files.read"],
    ["on files.write", [["files", "write", true]], "Switched on: files.write", "/tools off files.write"],
    ["off odd", [["docs", "read", false]], "Switched off: docs.read", "/tools on odd"],
    [
      "off files docs.read",
      [
        ["files", "read", false],
        ["files", "write", false],
        ["docs", "read", false],
      ],
      "Switched off: files.read, files.write, docs.read",
      "/tools on files docs.read",
    ],
  ])("%s switches these tools and no others", async (words, set, text, next) => {
    expect(await scene().run(tools, words)).toEqual([
      ...set.map((each) => ["set tool", ...each]),
      ["note", "info", text, next],
    ]);
  });

  test.each([
    ["off files.raed", 'this conversation has no tool "files.raed"; did you mean files.read?'],
    ["on nothing-like-it", 'this conversation has no tool "nothing-like-it"'],
    ["off files.read nothing-like-it", 'this conversation has no tool "nothing-like-it"'],
  ])("%s switches nothing, and the user is told which tool is unknown", async (words, text) => {
    expect(await scene().run(tools, words)).toEqual([["throw", "tool_unknown", text, "/tools"]]);
  });

  const files =
    "files: 1 tool\n\n  read(path: string)\n      the tool read\n\n  switched off in this conversation: write";
  const docs = "docs: 1 tool\n\n  read(path: string)\n      the tool read";

  test.each([
    ["", `${files}\n\n${docs}`],
    ["files", files],
    [" docs ", docs],
  ])("%s lists the tools of each server, and the ones that are switched off", async (words, text) => {
    expect(await scene().run(tools, words)).toEqual([["show", "/tools", text]]);
  });

  test("a list of one server's tools leaves out the descriptions of parameters", async () => {
    const inputSchema = { type: "object", properties: { path: { type: "string", description: "where it is" } } };
    const host = { tools: () => [hostTool("docs", "read", { inputSchema })] };
    const text = "docs: 1 tool\n\n  read(path?: string)\n      the tool read";
    expect(await scene({ host }).run(tools, "")).toEqual([["show", "/tools", text]]);
  });

  test.each(["on", "off", "other"])("%s alone is the name of a server", async (words) => {
    expect(await scene().run(tools, words)).toEqual([["throw", "server_unknown", `there is no server "${words}"`]]);
  });

  test("without tools, the list says so", async () => {
    const nothing = { host: { tools: () => [] }, conversation: { tools: () => [] } };
    expect(await scene(nothing).run(tools, "")).toEqual([["show", "/tools", "No tools found."]]);
    expect(await scene(nothing).run(tools, "files")).toEqual([["show", "/tools", "No tools found."]]);
  });

  test("hidden and quarantined tools are named with the reason", () => {
    const own = [
      conversationTool("files", "read", { quarantined: "its schema is malformed" }),
      conversationTool("files", "write", { quarantined: "too long", enabled: false }),
    ];
    const hidden = (server: string) => (server === "files" ? [{ setting: "excludeTools" }] : []);
    const { services } = scene({ host: { hidden }, conversation: { tools: () => own } });
    expect(toolListText("files", false, services)).toBe(
      "files: 1 tool (1 more hidden by excludeTools)\n\n  read(path: string)\n      the tool read\n\n" +
        "  switched off in this conversation: write\n\n  quarantined: read: its schema is malformed",
    );
  });

  test("a server that is not part of the conversation is listed with the reason", () => {
    const { services } = scene({ conversation: { tools: () => [] }, host: { hidden: () => [{ setting: "x" }] } });
    expect(toolListText("docs", false, services)).toBe(
      "docs: 1 tool (1 more hidden by x)\n\n  read(path: string)\n      the tool read\n" +
        "\n  not available to the model: the demo server is only used while no other server is configured",
    );
    expect(toolListText(undefined, false, services)).toBe("No tools found.");
  });

  test("the whole list has the descriptions of the parameters", () => {
    const described = hostTool("files", "read", {
      description: "one\n\ntwo",
      inputSchema: { type: "object", properties: { path: { type: "string", description: "where it is" } } },
    });
    const { services } = scene({
      host: { tools: () => [described], hidden: () => [] },
      conversation: { tools: () => [conversationTool("files", "read")] },
    });
    const [brief, whole] = [false, true].map((isWhole) => toolListText("files", isWhole, services));
    expect([brief?.includes("where it is"), whole?.includes("where it is")]).toEqual([false, true]);
  });

  const offers = [
    offered("files", "read"),
    offered("files", "write", { reason: "you switched it off", offered: false }),
    offered("docs", "read", { reason: "the tool budget is used up", offered: false }),
  ];
  const filesOffers =
    "  offered to the model directly: read (it fits)\n\n  found by search only: write (you switched it off)";
  const docsOffers = "  found by search only: all (the tool budget is used up)";

  test.each([
    ["manual", [], undefined],
    ["manual", ["a message"], undefined],
    ["gemini", [], "host"],
    ["gemini", ["a message"], "conversation"],
  ])("with the model %s and the messages %j, /tools shows the offers of: %s", async (provider, history, source) => {
    const model = { provider };
    const asked: unknown[] = [];
    const app = scene({
      host: {
        toolOffers: async (options: unknown) => {
          asked.push(["host", options]);
          return offers;
        },
      },
      conversation: {
        model,
        history,
        offers: async () => {
          asked.push(["conversation"]);
          return offers;
        },
      },
    });
    const [[, , text] = []] = (await app.run(tools, "")) as readonly (readonly string[])[];
    expect(asked).toEqual(source === undefined ? [] : source === "host" ? [["host", { model }]] : [["conversation"]]);
    const own = (list: string, lines: string): string =>
      source === undefined ? list : list.replace("the tool read", `the tool read\n\n${lines}`);
    expect(text).toBe(`${own(files, filesOffers)}\n\n${own(docs, docsOffers)}`);
  });
});

const all: readonly HostResource[] = [
  { kind: "resource", server: "files", name: "a", uri: "x://a" },
  { kind: "resource", server: "docs", name: "a", uri: "x://a" },
  { kind: "resource", server: "docs", name: "b", uri: "x://b" },
];
const teach: HostPrompt = { server: "docs", name: "teach", serverPromptName: "teach", arguments: [] };

test("/resources lists the resources of all servers or of one, and a shared URI with its server", async () => {
  const host = {
    resources: (server?: string) => all.filter((each) => server === undefined || each.server === server),
  };
  const files = "files: 1 resource\n\n  files:x://a (a)";
  const docs = "docs: 2 resources\n\n  docs:x://a (a)\n\n  x://b (b)";
  expect(await scene({ host }).run(resources, "")).toEqual([["show", "/resources", `${files}\n\n${docs}`]]);
  expect(await scene({ host }).run(resources, "docs")).toEqual([["show", "/resources", docs]]);
  expect(await scene().run(resources, "")).toEqual([["show", "/resources", "No resources found."]]);
});

test("/prompts lists the prompts of all servers or of one, by the names of their commands", async () => {
  const host = { prompts: (server?: string) => (server === "files" ? [] : [teach]) };
  const commands = () => [{ name: "docs.teach", prompt: teach }];
  const app = scene({ host, session: { commands } });
  const text = "docs: 1 prompt\n\n  /docs.teach()";
  expect(await app.run(prompts, "")).toEqual([["show", "/prompts", text]]);
  expect(await app.run(prompts, "docs")).toEqual([["show", "/prompts", text]]);
  expect(await app.run(prompts, "files")).toEqual([["show", "/prompts", "No prompts found."]]);
});

test("/resources and /prompts suggest servers as their only argument", () => {
  const { services } = scene();
  for (const { complete } of [resources, prompts]) {
    expect(complete?.([], services).map(({ value }) => value)).toEqual(["files", "docs"]);
    expect(complete?.(["files"], services)).toEqual([]);
  }
});
