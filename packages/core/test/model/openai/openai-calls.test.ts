import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createCallAssembly } from "../../../src/model/openai/openai-answer.ts";

function assembled(...deltas: readonly unknown[]) {
  const assembly = createCallAssembly();
  for (const delta of deltas) assembly.add(delta);
  return assembly.end();
}

const begin = (index: number | undefined, id: string | undefined, name?: string, text?: unknown): object => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id }),
  function: { ...(name !== undefined && { name }), ...(text !== undefined && { arguments: text }) },
});
const more = (index: number | undefined, text: string, id?: string): object => begin(index, id, undefined, text);
const a1 = { id: "x", name: "a", args: { n: 1 } };
const b2 = { id: "y", name: "b", args: { n: 2 } };
const withoutId = ({ name, args }: typeof a1) => ({ name, args });

test.each<[string, unknown[][], object[]]>([
  ["nothing", [], []],
  ["whole calls in one delta", [[begin(0, "x", "a", '{"n":1}'), begin(1, "y", "b", '{"n":2}')]], [a1, b2]],
  ["pieces, the id in the first only", [[begin(0, "x", "a", "")], [more(0, '{"n"')], [more(0, ":1}")]], [a1]],
  [
    "two in each other's midst",
    [
      [begin(0, "x", "a", "")],
      [begin(1, "y", "b", "")],
      [more(1, '{"n":'), more(0, '{"n"')],
      [more(0, ":1}")],
      [more(1, "2}")],
    ],
    [a1, b2],
  ],
  ["no numbers, whole", [[begin(undefined, "x", "a", '{"n":1}')], [begin(undefined, "y", "b", '{"n":2}')]], [a1, b2]],
  [
    "no numbers, in pieces",
    [
      [begin(undefined, "x", "a", '{"n"')],
      [more(undefined, ":1}")],
      [begin(undefined, "y", "b")],
      [more(undefined, '{"n":2}')],
    ],
    [a1, b2],
  ],
  [
    "no numbers, the id in every piece",
    [
      [begin(undefined, "x", "a", '{"n"'), begin(undefined, "y", "b", '{"n"')],
      [more(undefined, ":1}", "x"), more(undefined, ":2}", "y")],
    ],
    [a1, b2],
  ],
  ["all of them number 0", [[begin(0, "x", "a", '{"n":1}')], [begin(0, "y", "b", '{"n":2}')]], [a1, b2]],
  [
    "neither numbers nor ids",
    [[begin(undefined, undefined, "a", '{"n":1}'), begin(undefined, undefined, "b", '{"n":2}')]],
    [a1, b2].map(withoutId),
  ],
  [
    "the same twice, without an id",
    [[begin(0, undefined, "a", '{"n":1}')], [begin(0, undefined, "a", '{"n":1}')]],
    [a1, a1].map(withoutId),
  ],
  [
    "the same id for all of them",
    [[begin(0, "x", "a", '{"n":1}')], [begin(1, "x", "b", '{"n":2}')]],
    [a1, withoutId(b2)],
  ],
  [
    "the name repeated in every piece",
    [[begin(0, "x", "a", "")], [begin(0, "x", "a", '{"n"')], [begin(0, "x", "a", ":1}")]],
    [a1],
  ],
  [
    "the name in pieces",
    [[begin(0, "x", "files_")], [begin(0, undefined, "read", "{}")]],
    [{ id: "x", name: "files_read", args: {} }],
  ],
  ["arguments as an object", [[begin(0, "x", "a", { n: 1 })]], [a1]],
  [
    "no arguments",
    [[begin(0, "x", "a")], [begin(1, "y", "b", "  ")]],
    [
      { ...a1, args: {} },
      { ...b2, args: {} },
    ],
  ],
  [
    "no arguments, the same index",
    [[begin(0, "x", "a", "")], [begin(0, "y", "b", "")]],
    [
      { ...a1, args: {} },
      { ...b2, args: {} },
    ],
  ],
  [
    "no arguments, the same index, no ids",
    [[begin(0, undefined, "a", "")], [begin(0, undefined, "a", "")], [begin(0, undefined, "b", "")]],
    [
      { name: "a", args: {} },
      { name: "a", args: {} },
      { name: "b", args: {} },
    ],
  ],
  ["null for none", [[begin(0, "x", "a", "null")]], [{ ...a1, args: {} }]],
  ["what is no call", [[null, 7, "x"], ["y"]], []],
])("%s", (_what, deltas, calls) => {
  expect(assembled(...deltas)).toEqual({ calls });
});

test.each<[string, unknown[][], string]>([
  ["arguments that are cut", [[begin(0, "x", "a", '{"n":')]], 'the arguments of a are not a JSON object: {"n":'],
  ["arguments that are a list", [[begin(0, "x", "a", "[1]")]], "the arguments of a are not a JSON object: [1]"],
  ["a call without a name", [[begin(0, "x", "", "{}")]], "a call without a name"],
])("%s are a mistake, and no call is made", (_what, deltas, mistake) => {
  expect(assembled([begin(9, "z", "good", "{}")], ...deltas)).toEqual({ calls: [], mistake });
});

test("wherever arguments are cut, and however calls alternate, they come out as they went in", () => {
  const call = fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), args: fc.dictionary(fc.string(), fc.jsonValue()) });
  fc.assert(
    fc.property(
      fc.array(call, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      fc.infiniteStream(fc.nat(6)),
      (calls, hasIds, random) => {
        const next = (): number => random.next().value ?? 0;
        const left = calls.map(({ args }) => JSON.stringify(args));
        const assembly = createCallAssembly();
        for (const [index, { name }] of calls.entries())
          assembly.add([begin(index, hasIds ? `id${index}` : undefined, name, "")]);
        while (left.some((text) => text !== "")) {
          const at = next() % calls.length;
          const size = next();
          assembly.add([more(at, (left[at] ?? "").slice(0, size))]);
          left[at] = (left[at] ?? "").slice(size);
        }
        const expected = calls.map(({ name, args }) => ({ name, args: JSON.parse(JSON.stringify(args)) as object }));
        expect(assembly.end().calls.map(({ name, args }) => ({ name, args }))).toEqual(expected);
      },
    ),
    { numRuns: scaled(2_000, 60), seed: seed() },
  );
});
