import { expect, test } from "vitest";
import type { Model } from "../../../src/model/model.ts";
import { createScriptedModel } from "../../../src/model/scripted.ts";
import type { Pin } from "../../../src/server/names.ts";
import type { OfferedPlace } from "../../../src/turn/conversation.ts";
import { ToolRecord } from "../../../src/turn/tools/conversation-tools.ts";

const pins = (count: number): readonly Pin[] =>
  Array.from({ length: count }, (_none, at) => ({ server: "s", name: `t${at}`, as: `s__t${at}` }));
const tool = (name: string, server = "s"): OfferedPlace => ({ server, name });
const [one, two] = [tool("one"), tool("two")];
const search: OfferedPlace = { function: "search_tools" };
const call: OfferedPlace = { function: "call_tool" };
const model: Model = createScriptedModel({ script: "" });

function recording(earlier?: ConstructorParameters<typeof ToolRecord>[1]) {
  const changes: unknown[] = [];
  return Object.assign(new ToolRecord((change) => changes.push(change), earlier), { changes });
}

test("only new names are recorded, and functions only when they change", async () => {
  const at = recording();
  const functions = { search_tools: "search_tools" };
  await at.names(pins(2), functions);
  await at.names(pins(2), functions);
  await at.names(pins(3), functions);
  const others = { ...functions, call_tool: "call_tool" };
  await at.names(pins(3), others);
  expect(at.changes).toStrictEqual([
    { type: "names", tools: pins(2), functions },
    { type: "names", tools: pins(3).slice(2) },
    { type: "names", tools: [], functions: others },
  ]);
});

test("the names of a resumed conversation are not recorded again", async () => {
  const functions = {};
  const at = recording({ names: pins(2), functions, offered: [] });
  await at.names(pins(2), functions);
  expect(at.changes).toEqual([]);
  await at.names(pins(3), functions);
  expect(at.changes).toStrictEqual([{ type: "names", tools: pins(3).slice(2) }]);
});

test("very many names are recorded in several lines", async () => {
  const at = recording();
  await at.names(pins(2_001), {});
  expect(at.changes).toStrictEqual([
    { type: "names", tools: pins(1_000), functions: {} },
    { type: "names", tools: pins(2_000).slice(1_000) },
    { type: "names", tools: pins(2_001).slice(2_000) },
  ]);
});

test.each<[string, readonly OfferedPlace[], readonly OfferedPlace[], unknown]>([
  ["new declarations from their position on", [one, search], [one, search, two], { from: 2, places: [two] }],
  ["nothing if they are the same", [one, search], [{ ...one }, { ...search }], undefined],
  ["all if there are fewer", [one, two], [one], { from: 0, places: [one] }],
  ["all if none is left", [one], [], { from: 0, places: [] }],
  ["all if a tool is another one", [one], [two], { from: 0, places: [two] }],
  ["all if a server is another one", [one], [tool("one", "t")], { from: 0, places: [tool("one", "t")] }],
  ["all if a function is another one", [search], [call], { from: 0, places: [call] }],
  ["all if a function becomes a tool", [search], [one], { from: 0, places: [one] }],
  ["all if a tool becomes a function", [one], [search], { from: 0, places: [search] }],
])("of the declarations are recorded %s", (_what, before, after, expected) => {
  const at = recording();
  at.offeredPlaces(model, before);
  expect(at.changes).toEqual([{ type: "offered", from: 0, places: before }]);
  at.offeredPlaces(model, after);
  expect(at.changes.slice(1)).toEqual(expected === undefined ? [] : [{ type: "offered", ...Object(expected) }]);
});

test("declarations continue those of a resumed conversation, and without a model none are recorded", () => {
  const at = recording({ names: [], offered: [one] });
  at.offeredPlaces({ ...model, provider: "manual" }, [two]);
  at.offeredPlaces(model, [one, two]);
  expect(at.changes).toEqual([{ type: "offered", from: 1, places: [two] }]);
});
