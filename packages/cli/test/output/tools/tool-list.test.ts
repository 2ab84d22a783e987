import type { HostTool } from "@fairlead/core/host";
import { describe, expect, test } from "vitest";
import { serverToolsText, type ToolListOptions } from "../../../src/output/tools/lists.ts";
import { marked, plain } from "../../support/plain-style.ts";

const unbroken: ToolListOptions = { style: plain, columns: Number.POSITIVE_INFINITY, all: false };

function tool(given: Partial<HostTool> = {}): HostTool {
  return {
    name: "t",
    server: "s",
    serverToolName: "t",
    description: "",
    inputSchema: {},
    parametersJsonSchema: {},
    repairs: [],
    decision: "ask_user",
    ...given,
  };
}

function listed(given: Partial<HostTool>, options: Partial<ToolListOptions> = {}): string {
  return serverToolsText("s", [tool(given)], { ...unbroken, ...options }).replace("s: 1 tool\n\n", "");
}

test("tools stand under their server's name, a blank line before each", () => {
  expect(serverToolsText("s", [tool(), tool({ serverToolName: "u", name: "u", description: "More." })], unbroken)).toBe(
    "s: 2 tools\n\n  t()\n\n  u()\n      More.",
  );
});

test("what filters hide is counted", () => {
  const excluded = { setting: "excludeTools" } as const;
  const included = { setting: "includeTools" } as const;
  expect(serverToolsText("s", [tool()], unbroken, [excluded, excluded])).toBe(
    "s: 1 tool (2 more hidden by excludeTools)\n\n  t()",
  );
  expect(serverToolsText("s", [], unbroken, [included, excluded])).toBe(
    "s: 0 tools (2 more hidden by excludeTools and includeTools)",
  );
});

test("claims come after the signature, then the name for a model where it is another", () => {
  const annotations = { destructiveHint: true, openWorldHint: true };
  const outputSchema = { type: "object" };
  expect(listed({ annotations, outputSchema, name: "s__t" })).toBe("  t() → object [destructive] [open world] as s__t");
  expect(listed({ annotations, name: "s__t", description: "d" }, { style: marked })).toContain(
    "  <cyan>t</>() <yellow>[destructive]</> <dim>[open world]</> <dim>as s__t</>\n<dim>      d</>",
  );
});

describe("of a description, as much is shown as is needed to choose", () => {
  const words = "word ".repeat(100).trim();
  test.each<[description: string, shown: string, all: string]>([
    ["", "  t()", "  t()"],
    [" \n ", "  t()", "  t()"],
    ["One.\nTwo.", "  t()\n      One.\n      Two.", "  t()\n      One.\n      Two."],
    ["\n\nOne.\n \nTwo.\n", "  t()\n      One. …", "  t()\n      One.\n\n      Two."],
    ["One.\r\n\r\nTwo.", "  t()\n      One. …", "  t()\n      One.\n\n      Two."],
    [words, `  t()\n      ${"word ".repeat(79)}…`, `  t()\n      ${words}`],
    ["x".repeat(500), `  t()\n      ${"x".repeat(399)}…`, `  t()\n      ${"x".repeat(500)}`],
    ["a\u001b]0;owned\u0007\u202eb", "  t()\n      a␛]0;owned␇b", "  t()\n      a␛]0;owned␇b"],
  ])("%j", (description, shown, all) => {
    expect(listed({ description })).toBe(shown);
    expect(listed({ description }, { all: true })).toBe(all);
  });
});

test("with everything, each parameter has what is said about it", () => {
  const inputSchema = {
    properties: {
      a: { type: "string", description: "what\n  it is" },
      b: { $ref: "#/$defs/b" },
      c: { description: "" },
      "d\u001b": { description: "a\u001b[2J" },
    },
    $defs: { b: { type: "number", description: "how many" } },
  };
  expect(listed({ inputSchema, description: "Does it." }, { all: true })).toBe(
    [
      String.raw`  t(a?: string, b?: number, c?: unknown, "d\u001b"?: unknown)`,
      "      Does it.",
      "      a: what it is",
      "      b: how many",
      String.raw`      "d\u001b": a␛[2J`,
    ].join("\n"),
  );
});

test("on a terminal no line is longer than it is wide", () => {
  const properties = Object.fromEntries(["alpha", "beta", "gamma"].map((name) => [name, { type: "string" }]));
  const annotations = { readOnlyHint: true };
  expect(
    listed({ inputSchema: { properties }, annotations, description: "long words ".repeat(6) }, { columns: 40 }),
  ).toBe(
    [
      "  t(alpha?: string, beta?: string,",
      "    gamma?: string) [read-only]",
      "      long words long words long words",
      "      long words long words long words",
    ].join("\n"),
  );
});

test("ten thousand tools make ten thousand entries", () => {
  const tools = Array.from({ length: 10_000 }, (_, at) => tool({ serverToolName: `t${at}`, name: `t${at}` }));
  expect(serverToolsText("s", tools, { ...unbroken, columns: 80 }).split("\n\n")).toHaveLength(10_001);
});
