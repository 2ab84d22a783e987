import { describe, expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import type { ToolBinding } from "../../src/server/registered-tool.ts";
import { sampleTool } from "../support/sample-tools.ts";

describe("a tool's names", () => {
  test("its own is made valid; an override comes first", () => {
    expect(sampleTool("s", "read file").name).toBe("read_file");
    expect(sampleTool("s", "read file", { nameOverride: "my reader" }).name).toBe("my_reader");
  });

  test("the qualified one", () => {
    const tool = sampleTool("docs server", "read");
    expect(tool.getFullyQualifiedPrefix()).toBe("docs server__");
    expect(tool.asFullyQualifiedTool().name).toBe("docs_server__read");
    expect(sampleTool("s".repeat(40), "t".repeat(40)).asFullyQualifiedTool().name).toBe(
      `${"s".repeat(28)}___${"t".repeat(32)}`,
    );
  });

  test("a copy under another name is the same tool in everything else", () => {
    const facts = {
      title: "Read",
      annotations: { readOnlyHint: true },
      outputSchema: { type: "object" },
      timeout: 5000,
      trust: true,
      description: "Reads.",
    };
    const copy = sampleTool("s", "read", facts).named("x");
    expect(copy).toMatchObject({ name: "x", serverName: "s", serverToolName: "read", ...facts });
  });
});

describe("a tool's schema", () => {
  const raw = { type: "object", properties: { path: { type: "string" } }, additionalProperties: false };

  test("is compiled for the model, and the server's own is kept", () => {
    const tool = sampleTool("s", "read", { description: "Reads.", parameterSchemaJson: raw });
    expect(tool.schema).toEqual({
      name: "read",
      description: "Reads.",
      parametersJsonSchema: { type: "object", properties: { path: { type: "string" } } },
    });
    expect([tool.parameterSchemaJson, tool.parameterSchema]).toEqual([raw, raw]);
    expect(tool.repairs.map(({ keyword }) => keyword)).toEqual(["additionalProperties"]);
  });

  test("is compiled once for all copies", () => {
    const tool = sampleTool("s", "read", { parameterSchemaJson: raw });
    expect(tool.named("x").schema.parametersJsonSchema).toBe(tool.schema.parametersJsonSchema);
  });

  test("that cannot be used is an error that names the tool and the reason", () => {
    const tool = sampleTool("s", "read", { compile: () => ({ kind: "quarantined", reason: "it is a bomb" }) });
    expect(() => tool.schema).toThrow(
      new HostError("quarantined", "s.read cannot be offered to a model: it is a bomb", { serverName: "s" }),
    );
    expect([tool.quarantine, tool.repairs]).toEqual(["it is a bomb", []]);
  });
});

test("a host decides about its tools and runs them, whatever their trust", async () => {
  const seen: unknown[] = [];
  const execution = { llmContent: [{ text: "x" }], returnDisplay: "x" };
  const binding: ToolBinding = {
    async confirm(tool, params, signal) {
      seen.push(["confirm", tool, params, signal]);
      throw new HostError("denied", "a rule says no");
    },
    async call(tool, params, signal) {
      seen.push(["call", tool, params, signal]);
      return execution;
    },
  };
  const tool = sampleTool("s", "t", { binding, trust: true }).named("x");
  const { signal } = new AbortController();
  await expect(tool.shouldConfirmExecute({ a: 1 }, signal)).rejects.toMatchObject({ code: "denied" });
  expect(await tool.execute({ a: 1 }, signal)).toBe(execution);
  expect(seen).toEqual([
    ["confirm", tool, { a: 1 }, signal],
    ["call", tool, { a: 1 }, signal],
  ]);
});

test("the names of arguments that had to be changed for the model are restored, also where a person is asked", async () => {
  const seen: unknown[] = [];
  const binding: ToolBinding = {
    async confirm(_, params) {
      seen.push(params);
      return false;
    },
    async call(_, params) {
      seen.push(params);
      return { llmContent: [], returnDisplay: "" };
    },
  };
  const compile = () => ({
    kind: "compiled" as const,
    schema: { type: "object" },
    repairs: [],
    restore: ({ a_b, ...others }: Record<string, unknown>) => ({ ...others, "a b": a_b }),
  });
  const tool = sampleTool("s", "t", { binding, compile });
  await tool.shouldConfirmExecute({ a_b: 1, c: 2 });
  await tool.execute({ a_b: 1, c: 2 });
  expect(seen).toEqual([
    { "a b": 1, c: 2 },
    { "a b": 1, c: 2 },
  ]);
});

test("a tool that no host has bound can be shown, and not called", async () => {
  const refusal = { code: "internal", message: "s.t was created without a host" };
  const unbound = sampleTool("s", "t", { binding: undefined });
  await expect(unbound.execute({})).rejects.toMatchObject(refusal);
  await expect(unbound.shouldConfirmExecute({})).rejects.toMatchObject(refusal);
});
