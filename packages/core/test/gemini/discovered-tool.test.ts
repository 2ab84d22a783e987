import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import { createAllowList } from "../../src/gemini/allow-list.ts";
import { BaseDeclarativeTool, BaseTool, BaseToolInvocation } from "../../src/gemini/base-tool.ts";
import { DiscoveredMCPTool, DiscoveredMCPToolInvocation } from "../../src/gemini/discovered-tool.ts";
import type { CallableTool, Part } from "../../src/normalise/model-types.ts";
import { ToolConfirmationOutcome } from "../../src/policy/confirmation.ts";
import { manualClock } from "../support/manual-clock.ts";
import { builtTool, callable } from "../support/sample-tools.ts";

const never = { tool: async () => ({}), callTool: () => new Promise<never>(() => undefined) };
const answering = (...parts: readonly Part[]) => ({ tool: async () => ({}), callTool: async () => [...parts] });
const trusting = (trusted: boolean) => ({ isTrustedFolder: () => trusted });
const schema = { type: "object", properties: { path: { type: "string" } } };

/** Builds a tool from a list of arguments, as a JavaScript program may. */
const build = (...list: readonly unknown[]): DiscoveredMCPTool =>
  Reflect.construct(DiscoveredMCPTool, list) as DiscoveredMCPTool;
const asks = async (tool: DiscoveredMCPTool): Promise<boolean> => (await tool.shouldConfirmExecute({})) !== false;

describe("the constructor takes", () => {
  const first = [callable(), "files", "read", "Reads a file.", schema] as const;

  test("timeout, trust and name after the schema", () => {
    const tool = new DiscoveredMCPTool(...first, 5000, true, "my reader");
    expect(tool).toMatchObject({ name: "my_reader", serverName: "files", serverToolName: "read", timeout: 5000 });
    expect(tool).toMatchObject({ description: "Reads a file.", parameterSchemaJson: schema, trust: true });
  });

  test("trust, name and configuration after the schema", () => {
    const tool = new DiscoveredMCPTool(...first, true, "my reader", trusting(true));
    expect(tool).toMatchObject({ name: "my_reader", timeout: undefined, trust: true, parameterSchema: schema });
  });

  test("one object with the same names", () => {
    const [mcpTool, serverName, serverToolName, description, parameterSchema] = first;
    const named = { mcpTool, serverName, serverToolName, description, parameterSchema };
    expect(build({ ...named, timeout: 1, nameOverride: "x" })).toMatchObject({ name: "x", timeout: 1 });
    expect(build(named).parameterSchemaJson).toBe(schema);
  });

  // What follows the schema; the name, the timeout, and whether a call asks.
  test.each<[string, readonly unknown[], readonly [string, number | undefined, boolean]]>([
    ["nothing", [], ["read", undefined, true]],
    ["a timeout", [10], ["read", 10, true]],
    ["trust after a timeout", [10, true], ["read", 10, false]],
    ["trust after no timeout", [undefined, true], ["read", undefined, false]],
    ["distrust", [10, false], ["read", 10, true]],
    ["a name after neither", [undefined, undefined, "x"], ["x", undefined, true]],
    ["an empty name", [10, false, ""], ["read", 10, true]],
    ["a trusted folder after a name", [10, true, "x", trusting(true)], ["x", 10, false]],
    ["a folder that is not trusted after a name", [10, true, "x", trusting(false)], ["x", 10, true]],
    ["trust alone, which needs a configuration", [true], ["read", undefined, true]],
    ["trust and a name", [true, "x"], ["x", undefined, true]],
    ["trust in a trusted folder", [true, undefined, trusting(true)], ["read", undefined, false]],
    ["trust in a folder that is not trusted", [true, "x", trusting(false)], ["x", undefined, true]],
    ["no trust in a trusted folder", [false, "x", trusting(true)], ["x", undefined, true]],
    ["a trusted folder alone", [undefined, undefined, trusting(true)], ["read", undefined, true]],
  ])("%s", async (_, rest, [name, timeout, isAsked]) => {
    const tool = build(callable(), "list of forms", "read", "", schema, ...rest);
    expect([tool.name, tool.timeout, await asks(tool)]).toEqual([name, timeout, isAsked]);
  });

  test.each<[string, readonly unknown[]]>([
    ["options", []],
    ["options", ["s"]],
    ["mcpTool", [{}]],
    ["mcpTool", [undefined, "s", "t", "", {}]],
    ["mcpTool", [{ callTool: 1 }, "s", "t", "", {}]],
    ["serverName", [callable(), undefined, "t", "", {}]],
    ["serverName", [callable(), "", "t", "", {}]],
    ["serverToolName", [callable(), "s", 1, "", {}]],
    ["description", [callable(), "s", "t", null, {}]],
    ["timeout", [callable(), "s", "t", "", {}, "30"]],
    ["timeout", [callable(), "s", "t", "", {}, -1]],
    ["trust", [callable(), "s", "t", "", {}, 30, "yes"]],
    ["nameOverride", [callable(), "s", "t", "", {}, 30, true, 7]],
    ["cliConfig", [callable(), "s", "t", "", {}, true, "x", {}]],
    ["cliConfig", [callable(), "s", "t", "", {}, true, "x", null]],
    ["allowList", [{ mcpTool: callable(), serverName: "s", serverToolName: "t", description: "", allowList: [] }]],
  ])("no wrong %s", (parameter, list) => {
    expect(() => build(...list)).toThrow(
      expect.objectContaining({
        name: "HostError",
        code: "usage",
        message: expect.stringMatching(`^new DiscoveredMCPTool[(][)]: "${parameter}" must be `),
      }),
    );
  });

  test("a configuration that says neither yes nor no is a mistake of the program", async () => {
    const tool = new DiscoveredMCPTool(...first, true, "x", { isTrustedFolder: () => "no" as unknown as boolean });
    await expect(tool.shouldConfirmExecute({})).rejects.toMatchObject({ code: "usage" });
  });
});

describe("a tool's names", () => {
  test("its own is made valid; an override comes first", () => {
    expect(builtTool("s", "read file").name).toBe("read_file");
    expect(builtTool("s", "read file", { nameOverride: "my reader" }).name).toBe("my_reader");
  });

  test("the qualified one", () => {
    const tool = builtTool("docs server", "read");
    expect(tool.getFullyQualifiedPrefix()).toBe("docs server__");
    expect(tool.asFullyQualifiedTool()).toMatchObject({ name: "docs_server__read", nameOverride: "docs server__read" });
    expect(builtTool("s".repeat(40), "t".repeat(40)).asFullyQualifiedTool().name).toBe(
      `${"s".repeat(28)}___${"t".repeat(32)}`,
    );
  });

  test("a copy under another name is the same tool in everything else", async () => {
    const mcpTool = callable();
    const facts = {
      title: "Read",
      annotations: { readOnlyHint: true },
      outputSchema: { type: "object" },
      timeout: 5000,
      trust: true,
      description: "Reads.",
    };
    const copy = builtTool("s", "read", { mcpTool, ...facts }).named("x");
    expect(copy).toMatchObject({ name: "x", serverName: "s", serverToolName: "read", ...facts });
    expect(copy.nameOverride).toBeUndefined();
    await copy.execute({ a: 1 });
    expect(mcpTool.calls).toEqual([{ name: "read", args: { a: 1 } }]);
  });
});

describe("a tool's schema", () => {
  const raw = { type: "object", properties: { path: { type: "string" } }, additionalProperties: false };

  test("is compiled for the model, once for all copies, and the server's own is kept", () => {
    const tool = builtTool("s", "read", { description: "Reads.", parameterSchemaJson: raw });
    expect(tool.schema).toEqual({
      name: "read",
      description: "Reads.",
      parametersJsonSchema: { type: "object", properties: { path: { type: "string" } } },
    });
    expect([tool.parameterSchemaJson, tool.parameterSchema]).toEqual([raw, raw]);
    expect(tool.repairs.map(({ keyword }) => keyword)).toEqual(["additionalProperties"]);
    expect(tool.named("x").schema.parametersJsonSchema).toBe(tool.schema.parametersJsonSchema);
  });

  test("that cannot be used is an error that names the tool and the reason", () => {
    const tool = builtTool("s", "read", { compile: () => ({ kind: "quarantined", reason: "it is a bomb" }) });
    expect(() => tool.schema).toThrow(
      new HostError("quarantined", "s.read cannot be offered to a model: it is a bomb", { serverName: "s" }),
    );
    expect([tool.quarantine, tool.repairs]).toEqual(["it is a bomb", []]);
  });
});

describe("the confirmation", () => {
  const { ProceedOnce, ProceedAlwaysServer, ProceedAlwaysTool, Cancel } = ToolConfirmationOutcome;

  async function answer(tool: DiscoveredMCPTool, outcome: ToolConfirmationOutcome): Promise<void> {
    const details = await tool.shouldConfirmExecute({});
    if (details) await details.onConfirm(outcome);
  }

  test("shows what will run, as it is at that moment", async () => {
    const args = { action: "delete", paths: ["a"] };
    const tool = builtTool("untrusted", "dangerous", {
      description: "Deletes.",
      annotations: { destructiveHint: true },
    });
    const { signal } = new AbortController();
    const details = await tool.named("x").shouldConfirmExecute(args, signal);
    const built = await tool.named("x").build(args).shouldConfirmExecute(signal);
    args.paths.push("b");
    const shown = {
      type: "mcp",
      title: "Confirm MCP Tool Execution",
      serverName: "untrusted",
      toolName: "dangerous",
      toolDisplayName: "x",
      description: "Deletes.",
      args: { action: "delete", paths: ["a"] },
      annotations: { destructiveHint: true },
      outcomes: ["proceed_once", "proceed_always_tool", "proceed_always_server", "cancel"],
      onConfirm: expect.any(Function),
    };
    expect([details, built]).toEqual([shown, shown]);
    expect(details && [details.args, details.args["paths"]].every(Object.isFrozen)).toBe(true);
  });

  // Which tools need no confirmation any more after this answer about "b.c" of "a".
  test.each([
    [ProceedOnce, []],
    [Cancel, []],
    [ProceedAlwaysTool, ["a|b.c"]],
    [ProceedAlwaysServer, ["a|b.c", "a|x"]],
  ])("%s allows %j", async (outcome, allowed) => {
    const allowList = createAllowList();
    const tools = (["a|b.c", "a|x", "a.b|c", "a.b.c|x"] as const).map((pair) => {
      const [server = "", name = ""] = pair.split("|");
      return builtTool(server, name, { allowList });
    });
    if (tools[0]) await answer(tools[0].named("y"), outcome);
    const free: string[] = [];
    for (const tool of tools) if (!(await asks(tool))) free.push(`${tool.serverName}|${tool.serverToolName}`);
    expect(free).toEqual(allowed);
  });

  test("always holds in the whole process, for the same server and tool, on any connection", async () => {
    await answer(builtTool("process wide", "one"), ProceedAlwaysTool);
    expect(await asks(builtTool("process wide", "one"))).toBe(false);
    expect(await asks(builtTool("process wide", "two"))).toBe(true);
    await answer(builtTool("process wide", "two").asFullyQualifiedTool(), ProceedAlwaysServer);
    expect(await asks(builtTool("process wide", "three"))).toBe(false);
    expect(await asks(builtTool("another server", "one"))).toBe(true);
    expect(await asks(builtTool("process wide", "three", { allowList: createAllowList() }))).toBe(true);
  });

  test("takes the first answer", async () => {
    const tool = builtTool("first answer", "t");
    const details = await tool.shouldConfirmExecute({});
    if (details) await details.onConfirm(Cancel);
    if (details) await details.onConfirm(ProceedAlwaysTool);
    expect(await asks(tool)).toBe(true);
  });

  test("is refused for what could never be sent", async () => {
    await expect(builtTool("s", "t").shouldConfirmExecute({ run: 1n })).rejects.toMatchObject({
      code: "usage",
      message: 'Invalid parameters: must be JSON ("params" of shouldConfirmExecute())',
    });
  });
});

describe("a call", () => {
  test("goes out under the server's own name, and comes back as it was given", async () => {
    const mcpTool = callable("42");
    const result = await builtTool("s", "read file", { mcpTool, nameOverride: "x" }).execute({ path: "a" });
    expect(mcpTool.calls).toEqual([{ name: "read file", args: { path: "a" } }]);
    expect(result).toEqual({
      llmContent: [{ functionResponse: { name: "read file", response: { content: [{ type: "text", text: "42" }] } } }],
      returnDisplay: "42",
    });
  });

  test("that is built first comes back as parts for a model, marked as untrusted", async () => {
    const mcpTool = callable("42");
    const invocation = builtTool("s", "read", { mcpTool }).build({ path: "a" });
    expect(invocation).toBeInstanceOf(DiscoveredMCPToolInvocation);
    expect([invocation.params, invocation.getDescription(), invocation.toolLocations()]).toEqual([
      { path: "a" },
      '{"path":"a"}',
      [],
    ]);
    const { llmContent, returnDisplay } = await invocation.execute(new AbortController().signal);
    expect(returnDisplay).toBe("42");
    expect(llmContent.map(({ text }) => text).join("")).toMatch(
      /^\[Up to .*<untrusted_context_\w+>42<\/untrusted_context_\w+>$/s,
    );
    expect(mcpTool.calls).toEqual([{ name: "read", args: { path: "a" } }]);
    const again = await builtTool("s", "read", { mcpTool }).buildAndExecute({});
    expect(again.llmContent).toHaveLength(3);
  });

  test("restores the names of arguments that had to be changed for the model, also where a person is asked", async () => {
    const mcpTool = callable();
    const compile = () => ({
      kind: "compiled" as const,
      schema: { type: "object" },
      repairs: [],
      restore: ({ a_b, ...others }: Record<string, unknown>) => ({ ...others, "a b": a_b }),
    });
    const tool = builtTool("s", "t", { mcpTool, compile });
    expect(await tool.shouldConfirmExecute({ a_b: 1, c: 2 })).toMatchObject({ args: { "a b": 1, c: 2 } });
    await tool.execute({ a_b: 1, c: 2 });
    await tool.build({ a_b: 1, c: 2 }).execute();
    const sent = { name: "t", args: { "a b": 1, c: 2 } };
    expect(mcpTool.calls).toEqual([sent, sent]);
  });

  test.each([[undefined], [null], ["x"], [1], [[]]])("with %j for arguments never leaves", async (given) => {
    const mcpTool = callable();
    const tool = builtTool("s", "t", { mcpTool });
    const params = given as unknown as Record<string, unknown>;
    const refusalOf = (method: string) => ({
      code: "usage",
      message: `Invalid parameters: must be an object ("params" of ${method}())`,
      serverName: "s",
    });
    await expect(tool.execute(params)).rejects.toMatchObject(refusalOf("execute"));
    await expect(tool.shouldConfirmExecute(params)).rejects.toMatchObject(refusalOf("shouldConfirmExecute"));
    expect(() => tool.build(params)).toThrow(expect.objectContaining(refusalOf("build")));
    expect(mcpTool.calls).toEqual([]);
  });

  test("with something else for its signal is refused by the parameter's name", async () => {
    const mcpTool = callable();
    const tool = builtTool("s", "t", { mcpTool });
    const signal = 5 as unknown as AbortSignal;
    const refusal = { code: "usage", message: expect.stringContaining("must be an AbortSignal, not a number") };
    await expect(tool.execute({}, signal)).rejects.toMatchObject(refusal);
    await expect(tool.build({}).execute(signal)).rejects.toMatchObject(refusal);
    await expect(tool.shouldConfirmExecute({}, signal)).rejects.toMatchObject(refusal);
    expect(mcpTool.calls).toEqual([]);
  });

  test("that takes too long ends with the time that it had, and the word that programs look for", async () => {
    const clock = manualClock();
    const tool = builtTool("s", "t", { mcpTool: never, timeout: 5000, clock });
    const outcome = expect(tool.execute({})).rejects.toMatchObject({
      code: "call_timeout",
      message: "timeout: s.t gave no result within 5000 ms; the request may or may not have run",
      serverName: "s",
    });
    await clock.pass(5000);
    await outcome;
  });

  test.each([
    ["call_timeout", "timeout: s.t timed out"],
    ["auth_required", "unauthorized: s.t timed out"],
    ["denied", "permission denied: s.t timed out"],
    ["lost", "s.t timed out"],
  ] as const)("that fails with %s says so in the words of Gemini CLI", async (code, message) => {
    const error = new HostError(code, "s.t timed out", { serverName: "s", next: "wait", evidence: "E" });
    const mcpTool = { tool: async () => ({}), callTool: () => Promise.reject(error) };
    await expect(builtTool("s", "t", { mcpTool }).execute({})).rejects.toMatchObject({
      code,
      message,
      serverName: "s",
      next: "wait",
      evidence: "E",
    });
  });

  test("can be cancelled, and is not made if it was cancelled before", async () => {
    const stop = new AbortController();
    const cancelled = { code: "cancelled", message: "s.t was cancelled" };
    const outcome = expect(builtTool("s", "t", { mcpTool: never }).execute({}, stop.signal)).rejects.toMatchObject(
      cancelled,
    );
    stop.abort();
    await outcome;
    const mcpTool = callable();
    await expect(builtTool("s", "t", { mcpTool }).build({}).execute(stop.signal)).rejects.toMatchObject(cancelled);
    expect(mcpTool.calls).toEqual([]);
  });

  test("leaves neither a timer nor a listener behind", async () => {
    const clock = manualClock();
    const { signal } = new AbortController();
    await builtTool("s", "t", { timeout: 5000, clock }).execute({}, signal);
    expect([clock.pending(), getEventListeners(signal, "abort")]).toEqual([0, []]);
  });

  test("that fails in the callable fails with its error", async () => {
    const failure = new Error("no route");
    const mcpTool = { tool: async () => ({}), callTool: () => Promise.reject(failure) };
    await expect(builtTool("s", "t", { mcpTool }).execute({})).rejects.toBe(failure);
  });

  test.each(["null", "1", '"text"', "{}", "[null]", '["text"]', '[{"text":"a"},null]', '["text",{}]'])(
    "that the callable answers with %s has no answer",
    async (answer) => {
      const mcpTool = { tool: async () => ({}), callTool: async () => JSON.parse(answer) };
      await expect(builtTool("s", "read", { mcpTool }).execute({})).rejects.toMatchObject({
        name: "HostError",
        code: "protocol",
        message: "s.read did not return a list of parts",
      });
    },
  );
});

describe("a tool's own error is an answer", () => {
  const content = [{ type: "text", text: "no such file" }];
  test.each([
    ["isError", { isError: true, content }, true],
    ["the older form", { error: { isError: true }, content }, true],
    ["an error of any form", { error: "no such file" }, true],
    ["no error", { content }, false],
    ["said not to be one", { isError: false, content }, false],
  ])("%s", async (_, response, isError) => {
    const tool = builtTool("s", "t", { mcpTool: answering({ functionResponse: { name: "t", response } }) });
    for (const { error, returnDisplay } of [await tool.execute({}), await tool.build({}).execute()]) {
      expect(error?.code).toBe(isError ? "tool_error" : undefined);
      if (isError) expect(error?.message).toBe(`s.t reported an error: ${returnDisplay}`);
    }
  });
});

describe("a tool of the program's own", () => {
  class Doubling extends BaseToolInvocation<{ n: number }> {
    async execute() {
      return { llmContent: [{ text: String(this.params.n * 2) }], returnDisplay: `${this.params.n * 2}` };
    }
  }
  class Doubler extends BaseDeclarativeTool<{ n: number }> {
    constructor() {
      super("double", "Double", "Doubles a number.", "other", { type: "object" });
    }
    override validateToolParams({ n }: { n: number }): string | null {
      return typeof n === "number" ? null : "n must be a number";
    }
    protected createInvocation(params: { n: number }) {
      return new Doubling(params);
    }
  }

  test("extends the base classes: it checks, builds, asks nothing and runs", async () => {
    const tool = new Doubler();
    expect(tool).toBeInstanceOf(BaseTool);
    expect(builtTool("s", "t")).toBeInstanceOf(BaseDeclarativeTool);
    expect(tool.schema).toEqual({
      name: "double",
      description: "Doubles a number.",
      parametersJsonSchema: { type: "object" },
    });
    expect(await tool.shouldConfirmExecute({ n: 2 })).toBe(false);
    expect(await tool.execute({ n: 2 })).toMatchObject({ returnDisplay: "4" });
    expect(tool.getDescription({ n: 2 })).toBe('{"n":2}');
    expect(() => tool.build({ n: "x" as unknown as number })).toThrow(
      expect.objectContaining({ code: "arguments_invalid", message: "n must be a number" }),
    );
  });

  test("or only the simplest of them", async () => {
    class Greeter extends BaseTool<{ name: string }> {
      async execute({ name }: { name: string }) {
        return { llmContent: [{ text: name }], returnDisplay: `Hello, ${name}!` };
      }
    }
    const tool = new Greeter("greet", "Greet", "Greets.", "other", {});
    expect(await tool.shouldConfirmExecute({ name: "Ada" })).toBe(false);
    expect(tool.validateToolParams({ name: "Ada" })).toBeNull();
    expect((await tool.execute({ name: "Ada" })).returnDisplay).toBe("Hello, Ada!");
    const wrong = (): Greeter => Reflect.construct(Greeter, [""]) as Greeter;
    expect(wrong).toThrow('new BaseTool(): "name" must be a string that is not empty, not an empty string');
  });

  test("a callable of the program's own is called with the calls alone", async () => {
    const given: unknown[] = [];
    const mcpTool: CallableTool = {
      tool: async () => ({}),
      async callTool(...all: readonly unknown[]) {
        given.push(...all);
        return [];
      },
    };
    await builtTool("s", "t", { mcpTool }).execute({ a: 1 }, new AbortController().signal);
    expect(given).toEqual([[{ name: "t", args: { a: 1 } }]]);
  });
});
