import type { JsonObject } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { badges, toolToTry } from "../../../src/output/tools/lists.ts";
import { marked, plain } from "../../support/plain-style.ts";

describe("badges are what a server claims, in words", () => {
  test.each<[annotations: Record<string, unknown> | undefined, words: string]>([
    [undefined, ""],
    [{}, ""],
    [{ title: "T", readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }, ""],
    [{ readOnlyHint: true }, "[read-only]"],
    [{ readOnlyHint: true, idempotentHint: true }, "[read-only]"],
    [{ destructiveHint: true, idempotentHint: true, openWorldHint: true }, "[destructive] [idempotent] [open world]"],
    // A tool that claims both gets both badges.
    [{ readOnlyHint: true, destructiveHint: true }, "[read-only] [destructive]"],
    [{ readOnlyHint: "true", destructiveHint: 1 }, ""],
    [{ idempotentHint: true }, "[idempotent]"],
    [{ idempotentHint: true, readOnlyHint: false }, "[idempotent]"],
  ])("%j", (annotations, words) => {
    expect(badges(annotations ? { annotations } : {}, plain).join(" ")).toBe(words);
  });

  test("colours only repeat what the words say", () => {
    const annotations = { readOnlyHint: true, destructiveHint: true };
    expect(badges({ annotations }, marked)).toEqual(["<green>[read-only]</>", "<yellow>[destructive]</>"]);
  });
});

describe("a tool to try", () => {
  const tool = (serverToolName: string, annotations?: JsonObject, properties: JsonObject = {}, description = "") => ({
    serverToolName,
    description,
    ...(annotations && { annotations }),
    inputSchema: { type: "object", properties, required: Object.keys(properties) },
  });
  const readOnly = { readOnlyHint: true };
  const text = { type: "string" };

  test.each<[what: string, tools: readonly ReturnType<typeof tool>[], expected: string | undefined]>([
    ["is read-only", [tool("remove", { destructiveHint: true }), tool("search"), tool("look", readOnly)], "look"],
    ["or has the name of a tool that reads", [tool("remove"), tool("search_files")], "search_files"],
    ["not one that may change something", [tool("toggle"), tool("get", { readOnlyHint: false })], undefined],
    ["is not deprecated", [tool("old", readOnly, {}, "DEPRECATED: use new"), tool("new", readOnly)], "new"],
    ["has no made-up path", [tool("read", readOnly, { path: text }), tool("list", readOnly)], "list"],
    ["may have a text that can be anything", [tool("echo", readOnly, { message: text })], "echo"],
    ["numbers", [tool("add", readOnly, { a: { type: "number" }, b: { type: "integer" } })], "add"],
    ["and values that the schema gives", [tool("read", readOnly, { path: { ...text, examples: ["a"] } })], "read"],
    ["no list", [tool("read", readOnly, { paths: { type: "array" } })], undefined],
    ["and there may be none", [], undefined],
  ])("%s", (_what, tools, expected) => {
    expect(toolToTry(tools)?.serverToolName).toBe(expected);
  });
});
