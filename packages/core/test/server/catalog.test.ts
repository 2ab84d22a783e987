import { type JsonObject, WireError } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { type Catalog, type ListStep, mayGrow, readCatalog } from "../../src/server/catalog.ts";
import { manualClock } from "../support/manual-clock.ts";
import { scriptedSession } from "./scripted-session.ts";

const everything = { tools: {}, prompts: {}, resources: {} };
const empty: Catalog = {
  tools: [],
  prompts: [],
  resources: [],
  resourceTemplates: [],
  dropped: [],
  repaired: [],
  truncated: [],
};
const inputSchema = { type: "object" };
const nothing = {
  "tools/list": { tools: [] },
  "prompts/list": { prompts: [] },
  "resources/list": { resources: [] },
  "resources/templates/list": { resourceTemplates: [] },
};

const read = (answers: Readonly<Record<string, JsonObject | WireError>>, capabilities: JsonObject = everything) =>
  readCatalog(scriptedSession({ answers: { ...nothing, ...answers }, capabilities }));

test("what a server lists becomes its catalog, with its instructions", async () => {
  const answers = {
    "tools/list": { tools: [{ name: "t", inputSchema, icons: [] }] },
    "prompts/list": {
      prompts: [
        {
          name: "p",
          title: "P",
          arguments: [
            { name: "a", required: true },
            { name: "b", description: "B" },
          ],
        },
        { name: "q", icons: [] },
      ],
    },
    "resources/list": { resources: [{ uri: "x://1", name: "one", mimeType: "text/plain" }] },
    "resources/templates/list": { resourceTemplates: [{ uriTemplate: "x://{n}", name: "many", title: "Many" }] },
  };
  const session = { ...scriptedSession({ answers, capabilities: everything }), instructions: "Mind the rope." };
  expect(await readCatalog(session)).toEqual({
    ...empty,
    tools: [{ name: "t", inputSchema, icons: [] }],
    prompts: [
      {
        name: "p",
        title: "P",
        arguments: [
          { name: "a", required: true },
          { name: "b", description: "B", required: false },
        ],
      },
      { name: "q", arguments: [], icons: [] },
    ],
    resources: [{ uri: "x://1", name: "one", mimeType: "text/plain" }],
    resourceTemplates: [{ uriTemplate: "x://{n}", name: "many", title: "Many" }],
    instructions: "Mind the rope.",
  });
});

test("what is not taken as it was said is named, with its kind and the reason", async () => {
  const more = { nextCursor: "1" };
  const { tools, prompts, resources, dropped, repaired, truncated } = await read({
    "tools/list": { tools: [{ name: "t", inputSchema }, { inputSchema }, { name: "u" }, { name: "t", inputSchema }] },
    "prompts/list": { prompts: [{ name: "p", arguments: [{ name: "a" }, { description: "?" }] }] },
    "resources/list": { resources: [{ uri: "x://1" }, { uri: "x://1", name: "again" }], ...more },
  });
  expect(tools.map(({ name }) => name)).toEqual(["t", "u"]);
  expect(prompts).toEqual([{ name: "p", arguments: [{ name: "a", required: false }] }]);
  expect(resources).toEqual([{ uri: "x://1", name: "x://1" }]);
  const twice = { name: "x://1", reason: "duplicate name" };
  expect(dropped).toContainEqual({ kind: "tools", reason: "it has no name" });
  expect(dropped).toContainEqual({ kind: "tools", name: "t", reason: twice.reason });
  expect(dropped).toContainEqual({ kind: "resources", ...twice });
  expect(repaired).toContainEqual({ kind: "tools", name: "u", reason: "inputSchema is missing or invalid" });
  expect(repaired).toContainEqual({ kind: "prompts", name: "p", reason: "an argument without a name was dropped" });
  expect(truncated).toEqual([{ kind: "resources", reason: "nextCursor is the same as on an earlier page" }]);
});

describe("what is asked for", () => {
  test.each([
    [{ tools: {} }, ["tools/list"]],
    [{ prompts: {}, logging: {} }, ["prompts/list"]],
    [{ resources: {} }, ["resources/list", "resources/templates/list"]],
    // It may have forgotten to say what it has.
    [{ logging: {} }, Object.keys(nothing)],
    [{}, Object.keys(nothing)],
  ])("of a server that declares %j: %j", async (capabilities, asked) => {
    const session = scriptedSession({ answers: nothing, capabilities });
    expect(await readCatalog(session)).toEqual(empty);
    expect(session.asked).toEqual(asked);
  });
});

describe("a list that the server refuses", () => {
  const no = new WireError("rpc", "the rope is wet", { rpc: { code: -32603 } });

  test("is a note, and the others are taken", async () => {
    const { tools, dropped } = await read({
      "tools/list": { tools: [{ name: "t", inputSchema }] },
      "prompts/list": no,
    });
    expect(tools).toHaveLength(1);
    expect(dropped).toEqual([{ kind: "prompts", reason: "prompts/list failed: the rope is wet" }]);
  });

  test("is an error when there is no other", async () => {
    await expect(read({ "tools/list": no }, { tools: {} })).rejects.toBe(no);
  });

  test("is nothing to talk about when it only means that there is none", async () => {
    const unknown = new WireError("rpc", "what?", { rpc: { code: -32601 } });
    expect(await read({ "resources/templates/list": unknown })).toEqual(empty);
  });

  test.each(["exited", "unauthorized", "bad_message"] as const)("%s is no refusal: all is over", async (code) => {
    const error = new WireError(code, "no more");
    await expect(read({ "prompts/list": error })).rejects.toBe(error);
  });
});

test("an observer hears of every list, and how long it took", async () => {
  const clock = manualClock();
  const steps: ListStep[] = [];
  await clock.pass(5);
  const capabilities = { tools: {}, prompts: {} };
  const refusal = new WireError("rpc", "no", { rpc: { code: -1 } });
  const answers = { "tools/list": { tools: [{ name: "t", inputSchema }] }, "prompts/list": refusal };
  await readCatalog(scriptedSession({ answers, capabilities }), { clock, observe: (step) => steps.push(step) });
  expect(steps).toEqual([
    { step: "list", method: "tools/list", items: 1, milliseconds: 0 },
    { step: "list", method: "prompts/list", items: 0, refused: "no", milliseconds: 0 },
  ]);
});

test("lists may grow where a server says that it will tell", () => {
  expect(mayGrow({ capabilities: { tools: {}, prompts: { listChanged: true } } })).toBe(true);
  expect(mayGrow({ capabilities: { tools: { listChanged: "yes" }, logging: { listChanged: true } } })).toBe(false);
});
