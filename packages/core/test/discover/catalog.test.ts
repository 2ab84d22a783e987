import type { JsonObject } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { readCatalog } from "../../src/discover/catalog.ts";
import { answering } from "../answering.ts";

test("what a server lists becomes its catalog; fields that are not known or not of their type are left out", async () => {
  const session = answering({
    "tools/list": {
      tools: [{ name: "t", title: 7, inputSchema: { type: "object" }, outputSchema: { type: "object" }, icons: [] }],
    },
    "prompts/list": {
      prompts: [
        {
          name: "p",
          arguments: [
            { name: "a", required: true },
            { name: "b", description: "B" },
          ],
        },
        { name: "q" },
      ],
    },
    "resources/list": { resources: [{ uri: "x://1", name: "one", mimeType: "text/plain" }] },
    "resources/templates/list": { resourceTemplates: [{ uriTemplate: "x://{n}", name: "many", title: "Many" }] },
  });
  expect(await readCatalog("s", session)).toEqual({
    tools: [{ name: "t", inputSchema: { type: "object" }, outputSchema: { type: "object" } }],
    prompts: [
      {
        name: "p",
        arguments: [
          { name: "a", required: true },
          { name: "b", description: "B", required: false },
        ],
      },
      { name: "q", arguments: [] },
    ],
    resources: [
      { kind: "resource", uri: "x://1", name: "one", mimeType: "text/plain" },
      { kind: "template", uriTemplate: "x://{n}", name: "many", title: "Many" },
    ],
  });
});

test("what a server does not have is not asked for", async () => {
  const nonsense = { "tools/list": {}, "prompts/list": {}, "resources/list": {}, "resources/templates/list": {} };
  expect(await readCatalog("s", answering(nonsense, {}))).toEqual({ tools: [], prompts: [], resources: [] });
});

describe("a list that makes no sense is an error that names it", () => {
  test.each<[JsonObject, string]>([
    [{}, '"s" answered tools/list without tools'],
    [{ tools: {} }, '"s" answered tools/list without tools'],
    [{ tools: [null] }, 'tools/list of "s" has an entry without a proper "name"'],
    [{ tools: [{ name: 7, inputSchema: {} }] }, 'tools/list of "s" has an entry without a proper "name"'],
    [{ tools: [{ name: "t" }] }, 'tools/list of "s" has an entry without a proper "inputSchema"'],
    [{ tools: [{ name: "t", inputSchema: [] }] }, 'tools/list of "s" has an entry without a proper "inputSchema"'],
  ])("%j", async (answer, message) => {
    await expect(readCatalog("s", answering({ "tools/list": answer }))).rejects.toMatchObject({
      code: "protocol",
      message,
    });
  });
});
