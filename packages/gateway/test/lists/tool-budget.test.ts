import type { Host, ListableTool, SearchToolsOptions } from "@fairlead/core/host/types";
import type { ClientItem } from "@fairlead/core/server/names";
import { estimateTokens } from "@fairlead/core/text/token-estimate";
import { expect, test } from "vitest";
import { searchListed, withinBudget } from "../../src/lists/tool-budget.ts";

const listable = (name: string): ListableTool => ({
  serverName: "files",
  serverToolName: name,
  definition: { name },
});

/** A host that lists as many tools as `budget.tools` says. `asked`: the names and budgets that it was asked for. */
function budgetHost() {
  const asked: unknown[] = [];
  const toolsWithin = async <T extends ListableTool>(tools: readonly T[], budget: object): Promise<readonly T[]> => {
    asked.push([tools.map(({ serverToolName }) => serverToolName), budget]);
    return tools.slice(0, "tools" in budget ? Number(budget.tools) : 1);
  };
  return { asked, host: { toolsWithin } };
}

const own = { search: "search_tools", call: "call_tool" };

test("tools that all fit are listed as they are", async () => {
  const tools = [listable("a"), listable("b")];
  expect(await withinBudget(budgetHost().host, tools, { tools: 2 }, own)).toEqual(tools);
});

test("a shortened list has two tools of the gateway, for which it leaves room", async () => {
  const { host, asked } = budgetHost();
  const tools = ["a", "b", "c", "d", "e"].map(listable);
  const listed = await withinBudget(host, tools, { tools: 4, tokens: 1000 }, own);
  expect(listed.map(({ definition: { name } }) => name)).toEqual(["a", "b", "search_tools", "call_tool"]);
  expect(listed.slice(2).map(({ serverName }) => serverName)).toEqual(["", ""]);
  const cost = listed.slice(2).reduce((sum, { definition }) => sum + estimateTokens(JSON.stringify(definition)), 0);
  const all = ["a", "b", "c", "d", "e"];
  expect(asked.at(-1)).toEqual([all, { tools: 2, tokens: 1000 - cost }]);
  await withinBudget(host, tools, { tools: 1 }, own);
  expect(asked.at(-1)).toEqual([all, { tools: 0 }]);
  await withinBudget(host, tools, { tokens: 10 }, own);
  expect(asked.at(-1)).toEqual([all, { tokens: 0 }]);
});

const isNone = (_name: string): boolean => false;

/** Searches among the tools `t0`, `t1` and so on, which the client knows as `n0`, `n1` and so on. */
async function search(
  args: object,
  { count = 30, description = (_at: number): string => "d", denied = isNone, taken = isNone } = {},
) {
  const asked: unknown[] = [];
  const seen: unknown[] = [];
  const searchTools = async (queries: unknown, { limit, isOffered }: Required<SearchToolsOptions>) => {
    asked.push(queries);
    return ["unlisted", ...Array.from({ length: count }, (_, at) => `t${at}`)]
      .filter((tool) => isOffered({ serverName: "files", serverToolName: tool }))
      .slice(0, limit)
      .map((tool) => ({ server: "files", tool }));
  };
  const tools = new Map<string, ClientItem>(
    Array.from({ length: count }, (_, at) => [
      `n${at}`,
      { server: "files", name: `t${at}`, definition: { description: description(at), inputSchema: {}, more: 1 } },
    ]),
  );
  const { content } = await searchListed(
    { searchTools } as unknown as Pick<Host, "searchTools">,
    () => ({ tools }),
    {
      isDenied: ({ serverName, serverToolName }) => denied(`${serverName}.${serverToolName}`),
      maySee(pin) {
        seen.push(pin);
        return !taken(pin.as);
      },
    },
    { ...args },
  );
  const [{ text }] = content as [{ text: string }];
  return {
    asked,
    seen,
    text,
    content,
    lines: text.startsWith("{") ? text.split("\n").map((line) => JSON.parse(line)) : [],
  };
}

test("found tools are described by the client's names, one in each line", async () => {
  const { asked, content } = await search({ queries: ["read", 7, "write"] }, { count: 2 });
  expect(asked).toEqual([["read", "write"]]);
  const line = (at: number) => `{"name":"n${at}","server":"files","description":"d","inputSchema":{}}`;
  expect(content).toEqual([{ type: "text", text: `${line(0)}\n${line(1)}` }]);
});

test.each([
  [undefined, 5],
  ["9", 5],
  [0, 1],
  [3, 3],
  [20, 20],
  [21, 20],
])("with the limit %j, %i tools are returned", async (limit, count) => {
  expect((await search({ queries: ["a"], limit })).lines).toHaveLength(count);
});

test("at most ten queries are used, and none finds nothing without a search", async () => {
  const queries = Array.from({ length: 11 }, (_, at) => `q${at}`);
  expect((await search({ queries })).asked).toEqual([queries.slice(0, 10)]);
  for (const args of [{}, { queries: [] }, { queries: [1] }])
    expect(await search(args)).toMatchObject({ asked: [], text: "No tool was found. Try other words." });
});

test("denied tools are left out", async () => {
  const { lines } = await search({ queries: ["a"], limit: 2 }, { denied: (name) => name === "files.t0" });
  expect(lines.map(({ name }) => name)).toEqual(["n1", "n2"]);
});

test("the client has seen what is returned and nothing else; a name that means another tool is left out", async () => {
  const { lines, seen } = await search({ queries: ["a"], limit: 2 }, { taken: (name) => name === "n0" });
  expect(lines.map(({ name }) => name)).toEqual(["n1"]);
  expect(seen).toEqual([0, 1].map((at) => ({ server: "files", name: `t${at}`, as: `n${at}` })));
});

/** The characters of a line without its description. */
const lineLength = '{"name":"n0","server":"files","description":"","inputSchema":{}}'.length;

test("a definition of more than 8000 characters is not shown", async () => {
  const found = (length: number) =>
    search({ queries: ["a"], limit: 1 }, { description: () => "d".repeat(length - lineLength) });
  expect((await found(8000)).text).toHaveLength(8000);
  expect((await found(8001)).lines).toEqual([{ name: "n0", server: "files", inputSchema: "(too large to show)" }]);
});

test.each([
  [[8000, 8000, 8000, 8000, 8000], 5],
  [[8000, 8000, 8000, 8000, 8000 - lineLength, lineLength], 6],
  [[8000, 8000, 8000, 8000, 8001 - lineLength, lineLength], 5],
])("at most 40 000 characters are returned: of definitions with %j characters the first %i", async (sizes, count) => {
  const { lines } = await search(
    { queries: ["a"], limit: 20 },
    { description: (at) => "d".repeat((sizes[at] ?? lineLength) - lineLength) },
  );
  expect(lines).toHaveLength(count);
});

/** The definitions of the gateway's two tools, as a client gets them. */
async function ownDefinitions() {
  const listed = await withinBudget(budgetHost().host, [listable("a"), listable("b")], { tools: 1 }, own);
  const definitionOf = (wanted: string) =>
    listed.find(({ definition: { name } }) => name === wanted)?.definition as unknown as OwnDefinition;
  return { searchTools: definitionOf("search_tools"), callTool: definitionOf("call_tool") };
}

interface OwnDefinition {
  readonly description: string;
  readonly inputSchema: {
    readonly properties: Readonly<Record<string, { readonly description: string }>>;
    readonly required: readonly string[];
  };
  readonly annotations?: object;
}

test("search_tools keeps the limits and the default that its definition names", async () => {
  const { inputSchema } = (await ownDefinitions()).searchTools;
  const { limit } = inputSchema.properties as unknown as {
    readonly limit: { readonly minimum: number; readonly maximum: number; readonly description: string };
  };
  const countWith = async (wanted?: number) => (await search({ queries: ["a"], limit: wanted })).lines.length;
  const { minimum, maximum } = limit;
  expect([await countWith(minimum), await countWith(minimum - 1)]).toEqual([minimum, minimum]);
  expect([await countWith(maximum), await countWith(maximum + 1)]).toEqual([maximum, maximum]);
  expect(limit.description).toContain(`Default: ${await countWith()}.`);
});

test("the model reads which arguments the two tools need, and that one tool calls what the other has found", async () => {
  const { searchTools, callTool } = await ownDefinitions();
  expect(searchTools.description).toContain("Call them with call_tool.");
  expect(callTool.description).toContain("search_tools");
  expect(searchTools.inputSchema).toMatchObject({
    type: "object",
    properties: { queries: { type: "array", items: { type: "string" } }, limit: { type: "integer" } },
    required: ["queries"],
  });
  expect(callTool.inputSchema).toMatchObject({
    type: "object",
    properties: { name: { type: "string" }, arguments: { type: "object" } },
    required: ["name"],
  });
  for (const { inputSchema } of [searchTools, callTool])
    for (const { description } of Object.values(inputSchema.properties)) expect(description).toMatch(/^[A-Z].+\.$/);
});

test("search_tools is annotated as read-only; call_tool, which can call any tool, has no annotations", async () => {
  const { searchTools, callTool } = await ownDefinitions();
  expect(searchTools.annotations).toEqual({ readOnlyHint: true, openWorldHint: false });
  expect(callTool.annotations).toBeUndefined();
});
