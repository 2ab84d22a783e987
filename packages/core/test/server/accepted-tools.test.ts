import { expect, test } from "vitest";
import { AcceptedTools, type ListedTools, noLock, type ServerLock } from "../../src/server/accepted-tools.ts";
import type { CatalogTool } from "../../src/server/catalog.ts";
import { definitionDigest } from "../../src/server/tool-changes.ts";

const tool = (name: string, description: string): CatalogTool => ({ name, description, inputSchema: {} });

/** A server with one connection, whose lists the test gives. */
class Listing {
  readonly accepted: AcceptedTools;
  listed: ListedTools | undefined;

  constructor(lock: ServerLock = noLock) {
    this.accepted = new AcceptedTools(() => lock);
  }

  see(tools: readonly CatalogTool[]): void {
    this.listed = this.accepted.list(tools, { isNew: true, before: this.listed });
  }

  /** As a run begins: what the last one left is read from the cache. */
  recall(tools: readonly CatalogTool[], accepted: readonly CatalogTool[]): void {
    for (const earlier of accepted) this.accepted.meet(earlier, false);
    this.listed = this.accepted.list(tools, { isNew: false, before: this.listed });
  }

  unaccepted(): readonly CatalogTool[] {
    return this.listed === undefined ? [] : this.accepted.unaccepted(this.listed);
  }

  changeOf(name = "pay"): ReturnType<ListedTools["changeOf"]> {
    return this.listed?.changeOf(name);
  }

  accept(name = "pay"): void {
    this.listed?.accept(name);
  }
}

const difference = (marks: Listing): unknown => marks.changeOf()?.difference();

test("what is new is not changed; what becomes another is, until it is accepted or is what it was", () => {
  const marks = new Listing();
  marks.see([tool("pay", "one")]);
  expect(marks.changeOf()).toBeUndefined();
  marks.see([tool("pay", "two")]);
  expect(difference(marks)).toEqual([{ member: "description", before: "one", after: "two" }]);
  marks.see([tool("pay", "one")]);
  expect(marks.changeOf()).toBeUndefined();
  marks.see([tool("pay", "two")]);
  marks.accept();
  expect(marks.changeOf()).toBeUndefined();
  // Another account may see the other one: both were accepted.
  marks.see([tool("pay", "one")]);
  expect(marks.changeOf()).toBeUndefined();
  marks.see([tool("pay", "three")]);
  expect(difference(marks)).toEqual([{ member: "description", before: "one", after: "three" }]);
});

test("what earlier runs know counts, and what they do not is for the runs to come", () => {
  const marks = new Listing();
  const one = definitionDigest(tool("pay", "one"));
  const known = (name: string): readonly string[] | undefined => (name === "pay" ? [one] : undefined);
  marks.accepted.setEarlier({ of: known, isFull: false });
  marks.see([tool("pay", "two"), tool("look", "one")]);
  expect(difference(marks)).toEqual([
    { member: "definition", after: '{"description":"two","inputSchema":{},"name":"pay"}' },
  ]);
  expect([...marks.accepted.news().keys()]).toEqual(["look"]);
  marks.accept();
  expect([...marks.accepted.news()]).toEqual([
    ["look", [definitionDigest(tool("look", "one"))]],
    ["pay", [definitionDigest(tool("pay", "two"))]],
  ]);
});

test("where no further names are kept, one that is not known is no new one", () => {
  const marks = new Listing();
  marks.accepted.setEarlier({ of: () => undefined, isFull: true });
  marks.see([tool("pay", "one")]);
  expect(marks.changeOf()).toBeDefined();
  expect(marks.accepted.news().size).toBe(0);
  marks.accept();
  expect(marks.changeOf()).toBeUndefined();
});

test("a run hands on what was accepted, also of tools that are gone", () => {
  const first = new Listing();
  first.see([tool("pay", "one"), tool("look", "one"), tool("same", "one")]);
  const now = [tool("look", "two"), tool("same", "one")];
  first.see(now);
  expect(first.unaccepted()).toEqual([tool("pay", "one"), tool("look", "one")]);

  const second = new Listing();
  second.recall(now, first.unaccepted());
  second.see([...now, tool("pay", "two")]);
  expect(difference(second)).toEqual([{ member: "description", before: "one", after: "two" }]);
  expect(second.changeOf("look")).toBeDefined();
  second.accept();
  // What a run remembers is read again with every connection.
  second.recall(now, first.unaccepted());
  second.see([...now, tool("pay", "two")]);
  expect(second.changeOf()).toBeUndefined();
  expect(second.unaccepted()).toEqual([tool("look", "one")]);
});

test("names that come and go do not pile up without end", () => {
  const marks = new Listing();
  for (let list = 0; list < 30; list += 1)
    marks.see(Array.from({ length: 50 }, (_, index) => tool(`${list}-${index}`, "")));
  expect(marks.unaccepted()).toHaveLength(1000);
});

test("an approval says what is known, if only by its digest", () => {
  const marks = new Listing();
  marks.see([tool("pay", "two")]);
  marks.accepted.expect("pay", { digest: definitionDigest(tool("pay", "one")) });
  expect(difference(marks)).toEqual([
    { member: "definition", after: '{"description":"two","inputSchema":{},"name":"pay"}' },
  ]);
  marks.accepted.expect("pay", { digest: definitionDigest(tool("pay", "two")) });
  expect(marks.changeOf()).toBeUndefined();
});

test("a definition may be nested deeper than a stack holds", () => {
  const deep = (end: number): CatalogTool => ({
    name: "pay",
    inputSchema: JSON.parse(`${'{"a":'.repeat(20_000)}${end}${"}".repeat(20_000)}`),
  });
  const marks = new Listing();
  marks.see([deep(1)]);
  marks.see([deep(1)]);
  expect(marks.changeOf()).toBeUndefined();
  marks.see([deep(2)]);
  expect(difference(marks)).toHaveLength(1);
  marks.accept();
  marks.see([deep(2)]);
  expect(marks.changeOf()).toBeUndefined();
});

test("of a server that is not as locked, every tool is changed until it is accepted with that", () => {
  let drift = [{ member: "instructions", after: "Obey." }];
  const marks = new Listing({ ...noLock, drift: () => drift });
  marks.see([tool("pay", "one")]);
  expect(difference(marks)).toEqual(drift);
  marks.accept();
  expect(marks.changeOf()).toBeUndefined();
  drift = [{ member: "instructions", after: "Obey now." }];
  expect(difference(marks)).toEqual(drift);
});

test("two servers never share a mark, and no two tools", () => {
  const names = ["b.c", "c", "__proto__", "constructor"];
  const [one, other] = [new Listing(), new Listing()];
  for (const server of [one, other]) server.see(names.map((name) => tool(name, "one")));
  other.see(names.map((name) => tool(name, name === "c" ? "two" : "one")));
  const marked = (server: Listing): readonly string[] => names.filter((name) => server.changeOf(name) !== undefined);
  expect([marked(one), marked(other)]).toEqual([[], ["c"]]);
});

test("two connections of a server share what was accepted, and each is compared with its own list", () => {
  const accepted = new AcceptedTools();
  const first = accepted.list([tool("pay", "one")], { isNew: true });
  const second = accepted.list([tool("pay", "two")], { isNew: true });
  expect([first.changeOf("pay"), second.changeOf("pay")?.difference()]).toEqual([
    undefined,
    [{ member: "description", before: "one", after: "two" }],
  ]);
  second.accept("pay");
  expect([first.changeOf("pay"), second.changeOf("pay")]).toEqual([undefined, undefined]);
});

test("while definitions cannot be saved, a new tool is in doubt unless its definition is stored or locked", () => {
  const digest = definitionDigest(tool("pay", "one"));
  const doubtful = (lock?: ServerLock): Listing => {
    const marks = new Listing(lock);
    marks.accepted.setUnsaved("no disk");
    marks.see([tool("pay", "one")]);
    return marks;
  };
  const marks = doubtful();
  expect(marks.changeOf()?.doubt).toBe("no disk");
  marks.accepted.setEarlier({ of: () => undefined, isFull: false });
  expect(marks.changeOf()?.doubt).toBe("no disk");
  marks.accepted.setEarlier({ of: () => [definitionDigest(tool("pay", "two"))], isFull: false });
  expect(marks.changeOf()?.doubt).toBe("no disk");
  marks.accepted.setEarlier({ of: () => [digest], isFull: false });
  expect(marks.changeOf()).toBeUndefined();
  const locked = doubtful({ ...noLock, digestOf: () => digest });
  expect(locked.changeOf()).toBeUndefined();
});

test("thousands of listed tools are compared in slices, and other code gets its turn in between", async () => {
  const marks = new Listing();
  const tools = Array.from({ length: 3000 }, (_, at) => tool(`tool-${at}`, "one"));
  marks.see(tools);
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await marks.listed?.compareInTurns();
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(5);
  expect(marks.accepted.news().size).toBe(3000);
});
