import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { createMatcher, fitsHidden, indexScripts, type MatchOptions, targetOf } from "../../src/recordings/match.ts";
import type { Script } from "../../src/recordings/scripts.ts";

const script = (method: string, params: JsonObject): Script => ({
  method,
  params,
  isRequest: true,
  isModern: false,
  isCancelled: false,
  steps: [],
});

/** Finds scripts among those recorded with these parameters; a found script is shown by its place in the recording. */
function finder(recorded: readonly (readonly [method: string, params: JsonObject])[], options?: MatchOptions) {
  const scripts = recorded.map(([method, params]) => script(method, params));
  const matcher = createMatcher(indexScripts(scripts), options);
  return (method: string, params: JsonObject): number => {
    const found = matcher.find(method, params);
    return found === undefined ? -1 : scripts.indexOf(found);
  };
}

test("a request matches by method and parameters, without _meta and without empty arguments", () => {
  const find = finder([
    ["tools/call", { name: "a", arguments: { x: 1 } }],
    ["tools/call", { name: "a" }],
    ["prompts/get", { name: "a", arguments: { x: 1 } }],
    ["tools/list", { _meta: { token: 1 } }],
  ]);
  expect(find("tools/call", { arguments: { x: 1 }, name: "a", _meta: { token: 2 } })).toBe(0);
  expect(find("tools/call", { name: "a", arguments: {} })).toBe(1);
  expect(find("prompts/get", { name: "a", arguments: { x: 1 } })).toBe(2);
  expect(find("tools/list", {})).toBe(3);
  expect(find("tools/call", { name: "a", arguments: { x: 2 } })).toBe(-1);
  expect(find("tools/call", { name: "a", arguments: [] })).toBe(-1);
});

test.each(["initialize", "server/discover"])("%s matches with any parameters", (method) => {
  const find = finder([[method, { clientInfo: { name: "recorded" } }]]);
  expect(find(method, { clientInfo: { name: "live" } })).toBe(0);
});

test("the same request gets its answers in order, then the last one again; each client from the first", () => {
  const recorded = [
    ["a", {}],
    ["b", {}],
    ["a", {}],
    ["a", {}],
  ] as const;
  const find = finder(recorded);
  expect([1, 2, 3, 4, 5].map(() => find("a", {}))).toEqual([0, 2, 3, 3, 3]);
  const index = indexScripts(recorded.map(([method, params]) => script(method, params)));
  expect(createMatcher(index).find("a", {})).toBe(createMatcher(index).find("a", {}));
});

test("with loose, other arguments match if the target is the same, but equal ones take precedence", () => {
  const recorded = [
    ["tools/call", { name: "a", arguments: { x: 1 } }],
    ["tools/call", { name: "b", arguments: { x: 1 } }],
    ["tools/call", { name: "b", arguments: { x: 2 } }],
  ] as const;
  const loose = finder(recorded, { loose: true });
  expect(loose("tools/call", { name: "b", arguments: { x: 2 } })).toBe(2);
  expect(loose("tools/call", { name: "b", arguments: { x: 3 } })).toBe(1);
  expect(loose("tools/call", { name: "c" })).toBe(-1);
  expect(loose("prompts/get", { name: "a" })).toBe(-1);
  expect(finder(recorded)("tools/call", { name: "b", arguments: { x: 3 } })).toBe(-1);
});

test("a hidden text in the recording matches any text of a request with this method", () => {
  const find = finder([
    ["prompts/get", { name: "(hidden)" }],
    ["tools/call", { name: "a", arguments: { key: "(hidden)" } }],
    ["tools/call", { name: "b", arguments: { key: "(hidden)" }, _meta: { token: 1 } }],
  ]);
  expect(find("tools/call", { name: "b", arguments: { key: "k" }, _meta: { token: 2 } })).toBe(2);
  expect(find("tools/call", { name: "a", arguments: { key: "k" } })).toBe(1);
  expect(find("tools/call", { name: "c" })).toBe(-1);
});

test.each([
  [{ name: "n", uri: "u", taskId: "t", ref: {} }, "n"],
  [{ uri: "u", taskId: "t" }, "u"],
  [{ name: 1, taskId: "t", ref: {} }, "t"],
  [{ ref: { type: "b", name: "a" } }, '{"name":"a","type":"b"}'],
  [{ ref: "r" }, ""],
  [{}, ""],
])("the parameters %j are about %j", (params, target) => {
  expect(targetOf(params)).toBe(target);
});

test.each([
  ["(hidden)", "x", true],
  ["(hidden)", { any: 1 }, true],
  ["a (hidden)", "a b", true],
  ["a (hidden)", "b", false],
  ["a (hidden)", 1, false],
  [1, 1, true],
  [1, "1", false],
  [null, null, true],
  [null, {}, false],
  [{}, null, false],
  [{}, "x", false],
  ["x", {}, false],
  [{ a: 1 }, { a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: 1, b: 2 }, { a: 1 }, false],
  [{ a: 1 }, { b: 1 }, false],
  [{ toString: undefined }, { b: undefined }, false],
  [[1, "(hidden)"], [1, 2], true],
  [[1, 2], [2, 1], false],
  [[], {}, false],
  [{}, [], false],
  [["x"], { 0: "x" }, false],
  [{ a: [{ b: "(hidden)" }, 1] }, { a: [{ b: "x" }, 1] }, true],
  [{ a: [{ b: "(hidden)" }, 1] }, { a: [{ b: "x" }, 2] }, false],
])("%j as recorded and %j now: fits is %j", (recorded, live, fits) => {
  expect(fitsHidden(recorded, live)).toBe(fits);
});
