import type { HostTool } from "@fairlead/core/host";
import { expect, test } from "vitest";
import { rawDocument, toolsDocument } from "../../../src/commands/tools.ts";

const schema = { type: "object" };
const tool: HostTool = {
  name: "s__t",
  server: "s",
  serverToolName: "t",
  description: "Does it.",
  inputSchema: { ...schema, $schema: "x" },
  parametersJsonSchema: schema,
  repairs: [],
  decision: "ask_user",
};
const { inputSchema: _, repairs: __, ...shown } = tool;

function deep(): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 0; level < 100_000; level += 1) value = { value };
  return value;
}

test("a document has what a model is shown, and nothing that is empty", () => {
  expect(toolsDocument({ tools: [tool], quarantined: [], hidden: [], notes: [], flags: [] })).toEqual({
    tools: [shown],
    quarantined: [],
  });
});

test("what else is known of a tool stands beside it", () => {
  const repairs = [{ path: "", keyword: "$schema", action: "removed", note: "gone" }] as const;
  const more = { title: "T", outputSchema: schema, annotations: { readOnlyHint: true } };
  const quarantined = [{ server: "s", serverToolName: "u", reason: "too deep" }];
  const hidden = [{ server: "s", serverToolName: "v", setting: "excludeTools" }] as const;
  const notes = [{ server: "s", message: "m" }];
  expect(toolsDocument({ tools: [{ ...tool, ...more, repairs }], quarantined, hidden, notes, flags: [] })).toEqual({
    tools: [{ ...shown, ...more, repairs }],
    quarantined,
    hidden,
    warnings: notes,
  });
});

test("definitions are the server's own, to the last member", () => {
  const definition = { name: "t", inputSchema: { $schema: "x" }, icons: [] };
  expect(rawDocument("s", { tools: [definition] })).toEqual({ name: "s", tools: [definition] });
});

test("what nests too deeply to be written down does not keep the rest from it", () => {
  const unprintable = "nested too deeply to be printed";
  const document = toolsDocument({
    tools: [{ ...tool, outputSchema: deep() }],
    quarantined: [],
    hidden: [],
    notes: [],
    flags: [],
  });
  expect(JSON.parse(JSON.stringify(document))).toEqual({
    tools: [{ ...shown, outputSchema: { unprintable } }],
    quarantined: [],
  });
  expect(rawDocument("s", { tools: [{ name: "t", inputSchema: deep() }] })).toEqual({
    name: "s",
    tools: [{ name: "t", unprintable }],
  });
});
