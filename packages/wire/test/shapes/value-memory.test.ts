import { expect, test } from "vitest";
import { itemsMemory, keyMemory, memoryFor, tooMuchMemory } from "../../src/shapes/json-memory.ts";
import { memoryOf } from "../../src/shapes/lists.ts";
import { createItemReader } from "../../src/shapes/sliced-json.ts";

const enough = 1_000_000;

test.each<[unknown, number]>([
  ["", 0],
  ["abc", 3],
  ["あ", 3],
  [["ä", { a: "😀" }], 32 + 2 + 32 + 4],
  [7, 8],
  [null, 8],
  [true, 8],
  [[], 32],
  [{}, 32],
  [[1, "abc", null], 32 + 8 + 3 + 8],
  [{ a: 1, b: ["xy"] }, 32 + 8 + 32 + 2],
])("the value %j takes about %d bytes", (value, bytes) => {
  expect(memoryOf(value, enough)).toBe(bytes);
});

const nested = (levels: number, inner: unknown): unknown => {
  let value = inner;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
};

test("deep values are counted like others, and never overflow the stack", () => {
  const inner = ["abc", 1, { a: null, b: "de" }, []];
  const bytes = 32 + 3 + 8 + (32 + 8 + 2) + 32;
  for (const levels of [1, 99, 100, 101, 150])
    expect(memoryOf(nested(levels, inner), enough)).toBe(32 * levels + bytes);
  expect(memoryOf(nested(50_000, 1), 10_000_000)).toBe(32 * 50_000 + 8);
});

test("counting stops above the limit, in lists, objects and deep values", () => {
  const many = Array.from({ length: 100 }, () => 1);
  const members = Object.fromEntries(many.map((one, at) => [`m${at}`, one]));
  // 32 bytes for the value, and then 8 for each member until the sum is above 40.
  for (const value of [many, members]) expect(memoryOf(value, 40)).toBe(48);
  expect(memoryOf(nested(100, many), 40)).toBe(32 * 100 + 48);
});

test("a message may take four times the memory of its text, but at most 64 MB", () => {
  const megabyte = 1024 * 1024;
  expect([1, 16 * megabyte, 17 * megabyte].map(memoryFor)).toEqual([4, 64 * megabyte, 64 * megabyte]);
  expect(tooMuchMemory(64 * megabyte)).toMatchObject({
    code: "too_large",
    message: "the values of a message take more than 64 MB of memory",
    evidence: { overMemory: true },
  });
});

test("a key counts once, as long as there are not too many keys", () => {
  const keys = new Set<string>();
  expect(keyMemory("abc", keys)).toBe(163);
  expect(keyMemory("abc", keys)).toBe(0);
  for (let at = keys.size; at < 1000; at += 1) keyMemory(`k${at}`, keys);
  expect([keys.size, keyMemory("more", keys), keyMemory("more", keys), keyMemory("k999", keys)]).toEqual([
    1000, 164, 164, 0,
  ]);
});

test.each<[readonly unknown[], number]>([
  [[], 32],
  [["abc", 1, null, true], 32 + 4 * 8 + (24 + 2 + 3) + 3 * 16],
  [[[], {}], 32 + 16 + 32 + 56],
  [[{ a: "x", b: 2 }, { a: [] }], 32 + 16 + (56 + 2 * 8 + 2 * 161 + 27 + 16) + (56 + 8 + 32)],
])("the items %j take about %d bytes", (items, bytes) => {
  expect(itemsMemory(items, new Set())).toBe(bytes);
});

test("items of a list are read together, up to the last one that begins like the first", () => {
  const item = (at: number): string => `{"name":"t${at}","text":"${"x".repeat(90)}"}`;
  const items = Array.from({ length: 100 }, (_, at) => item(at));
  const text = `[${items.join(",")}]`;
  const run = createItemReader(text)(1, 1);
  expect(run?.items).toEqual(items.slice(0, -1).map((one) => JSON.parse(one) as unknown));
  expect(text.slice(run?.end)).toBe(`${items.at(-1)}]`);
});

test("a list of other values, or one that is short, is read one by one", () => {
  const long = "x".repeat(9000);
  expect(createItemReader(`["${long}","${long}"]`)(1, 1)).toBeUndefined();
  expect(createItemReader('[{"name":1},{"name":2}]')(1, 1)).toBeUndefined();
  // Only 4095 characters before the next item.
  const first = `{"name":"${"x".repeat(4084)}"}`;
  expect(first).toHaveLength(4095);
  const rest = `,{"name":"${long}"}]`;
  expect(createItemReader(`[${first}${rest}`)(1, 1)).toBeUndefined();
  expect(createItemReader(`[${first.replace("x", "xx")}${rest}`)(1, 1)?.items).toHaveLength(1);
});

test("after eight wrong guesses, items are read one by one", () => {
  // The text in the item looks like the beginning of another item.
  const item = JSON.stringify({ name: "a", text: `${"x".repeat(5000)},{"name":` }).replaceAll('\\"', '"');
  const good = `{"name":"${"x".repeat(5000)}"},{"name":1}`;
  const text = `[${item},${good}]`;
  const reader = createItemReader(text);
  const at = text.indexOf(good);
  expect(reader(at, at)?.items).toHaveLength(1);
  for (let time = 0; time < 8; time += 1) expect(reader(1, 1)).toBeUndefined();
  expect(reader(at, at)).toBeUndefined();
});
