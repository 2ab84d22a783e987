import { expect, test } from "vitest";
import { type ChangedDefinitions, createChangedDefinitions } from "../../../src/host/catalogs/changed-definitions.ts";
import type { CatalogTool } from "../../../src/server/catalog.ts";
import { definitionDigest } from "../../../src/server/tool-changes.ts";

const tool = (name: string, description: string): CatalogTool => ({ name, description, inputSchema: {} });
const pay = { serverName: "s", serverToolName: "pay" };
const difference = (marks: ChangedDefinitions): unknown => marks.changeOf(pay)?.difference();

test("what is new is not changed; what becomes another is, until it is accepted or is what it was", () => {
  const marks = createChangedDefinitions();
  marks.see("s", [tool("pay", "one")]);
  expect(marks.changeOf(pay)).toBeUndefined();
  marks.see("s", [tool("pay", "two")]);
  expect(difference(marks)).toEqual([{ member: "description", before: "one", after: "two" }]);
  marks.see("s", [tool("pay", "one")]);
  expect(marks.changeOf(pay)).toBeUndefined();
  marks.see("s", [tool("pay", "two")]);
  marks.accept(pay);
  expect(marks.changeOf(pay)).toBeUndefined();
  // Another account may see the other one: both were accepted.
  marks.see("s", [tool("pay", "one")]);
  expect(marks.changeOf(pay)).toBeUndefined();
  marks.see("s", [tool("pay", "three")]);
  expect(difference(marks)).toEqual([{ member: "description", before: "one", after: "three" }]);
});

test("what earlier runs know counts, and what they do not is for the runs to come", () => {
  const marks = createChangedDefinitions();
  const one = definitionDigest(tool("pay", "one"));
  const known = (name: string): readonly string[] | undefined => (name === "pay" ? [one] : undefined);
  marks.setAccepted("s", { of: known, isFull: false });
  marks.see("s", [tool("pay", "two"), tool("look", "one")]);
  expect(difference(marks)).toEqual([
    { member: "definition", after: '{"description":"two","inputSchema":{},"name":"pay"}' },
  ]);
  expect([...marks.news("s").keys()]).toEqual(["look"]);
  marks.accept(pay);
  expect([...marks.news("s")]).toEqual([
    ["look", [definitionDigest(tool("look", "one"))]],
    ["pay", [definitionDigest(tool("pay", "two"))]],
  ]);
});

test("where no further names are kept, one that is not known is no new one", () => {
  const marks = createChangedDefinitions();
  marks.setAccepted("s", { of: () => undefined, isFull: true });
  marks.see("s", [tool("pay", "one")]);
  expect(marks.changeOf(pay)).toBeDefined();
  expect(marks.news("s").size).toBe(0);
  marks.accept(pay);
  expect(marks.changeOf(pay)).toBeUndefined();
});

test("a run hands on what was accepted, also of tools that are gone", () => {
  const first = createChangedDefinitions();
  first.see("s", [tool("pay", "one"), tool("look", "one"), tool("same", "one")]);
  const now = [tool("look", "two"), tool("same", "one")];
  first.see("s", now);
  expect(first.unaccepted("s")).toEqual([tool("pay", "one"), tool("look", "one")]);

  const second = createChangedDefinitions();
  second.recall("s", now, first.unaccepted("s"));
  second.see("s", [...now, tool("pay", "two")]);
  expect(difference(second)).toEqual([{ member: "description", before: "one", after: "two" }]);
  expect(second.changeOf({ serverName: "s", serverToolName: "look" })).toBeDefined();
  second.accept(pay);
  // What a run remembers is read again with every connection.
  second.recall("s", now, first.unaccepted("s"));
  second.see("s", [...now, tool("pay", "two")]);
  expect(second.changeOf(pay)).toBeUndefined();
  expect(second.unaccepted("s")).toEqual([tool("look", "one")]);
});

test("names that come and go do not pile up without end", () => {
  const marks = createChangedDefinitions();
  for (let list = 0; list < 30; list += 1)
    marks.see(
      "s",
      Array.from({ length: 50 }, (_, index) => tool(`${list}-${index}`, "")),
    );
  expect(marks.unaccepted("s")).toHaveLength(1000);
});

test("an approval says what is known, if only by its digest", () => {
  const marks = createChangedDefinitions();
  marks.see("s", [tool("pay", "two")]);
  marks.expect(pay, { digest: definitionDigest(tool("pay", "one")) });
  expect(difference(marks)).toEqual([
    { member: "definition", after: '{"description":"two","inputSchema":{},"name":"pay"}' },
  ]);
  marks.expect(pay, { digest: definitionDigest(tool("pay", "two")) });
  expect(marks.changeOf(pay)).toBeUndefined();
});

test("a definition may be nested deeper than a stack holds", () => {
  const deep = (end: number): CatalogTool => ({
    name: "pay",
    inputSchema: JSON.parse(`${'{"a":'.repeat(20_000)}${end}${"}".repeat(20_000)}`),
  });
  const marks = createChangedDefinitions();
  marks.see("s", [deep(1)]);
  marks.see("s", [deep(1)]);
  expect(marks.changeOf(pay)).toBeUndefined();
  marks.see("s", [deep(2)]);
  expect(difference(marks)).toHaveLength(1);
  marks.accept(pay);
  marks.see("s", [deep(2)]);
  expect(marks.changeOf(pay)).toBeUndefined();
});

test("of a server that is not as locked, every tool is changed until it is accepted with that", () => {
  let drift = [{ member: "instructions", after: "Obey." }];
  const marks = createChangedDefinitions({
    digestOf: () => undefined,
    driftOf: () => drift,
    promptDriftOf: () => undefined,
  });
  marks.see("s", [tool("pay", "one")]);
  expect(difference(marks)).toEqual(drift);
  marks.accept(pay);
  expect(marks.changeOf(pay)).toBeUndefined();
  drift = [{ member: "instructions", after: "Obey now." }];
  expect(difference(marks)).toEqual(drift);
});

test("two servers never share a mark", () => {
  const marks = createChangedDefinitions();
  for (const server of ["a", "a.b", "__proto__"]) marks.see(server, [tool("b.c", "one"), tool("c", "one")]);
  marks.see("a.b", [tool("c", "two")]);
  const marked = ["a", "a.b", "__proto__"].flatMap((serverName) =>
    ["b.c", "c"]
      .filter((serverToolName) => marks.changeOf({ serverName, serverToolName }))
      .map((name) => [serverName, name]),
  );
  expect(marked).toEqual([["a.b", "c"]]);
  marks.forget("a.b");
  expect(marks.toolsOf("a.b")).toEqual([]);
});

test("while definitions cannot be saved, a new tool is in doubt unless its definition is stored or locked", () => {
  const digest = definitionDigest(tool("pay", "one"));
  const doubtful = (...[lock]: Parameters<typeof createChangedDefinitions>): ChangedDefinitions => {
    const definitions = createChangedDefinitions(lock);
    definitions.setUnsaved("s", "no disk");
    definitions.see("s", [tool("pay", "one")]);
    return definitions;
  };
  const definitions = doubtful();
  expect(definitions.changeOf(pay)?.doubt).toBe("no disk");
  definitions.setAccepted("s", { of: () => undefined, isFull: false });
  expect(definitions.changeOf(pay)?.doubt).toBe("no disk");
  definitions.setAccepted("s", { of: () => [definitionDigest(tool("pay", "two"))], isFull: false });
  expect(definitions.changeOf(pay)?.doubt).toBe("no disk");
  definitions.setAccepted("s", { of: () => [digest], isFull: false });
  expect(definitions.changeOf(pay)).toBeUndefined();
  const locked = doubtful({ digestOf: () => digest, driftOf: () => [], promptDriftOf: () => undefined });
  expect(locked.changeOf(pay)).toBeUndefined();
});

test("thousands of listed tools are compared in slices, and other code gets its turn in between", async () => {
  const changed = createChangedDefinitions();
  const tools = Array.from({ length: 3000 }, (_, at) => tool(`tool-${at}`, "one"));
  changed.see("s", tools);
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await changed.compareListed("s");
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(5);
  expect(changed.news("s").size).toBe(3000);
});
