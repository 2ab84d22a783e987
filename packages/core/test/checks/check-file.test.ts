import { describe, expect, test } from "vitest";
import { type CheckFile, readCheckFile } from "../../src/checks/check-file.ts";

const read = (document: unknown): CheckFile => readCheckFile(document, "c.yaml");

describe("a file of checks", () => {
  test("needs only a server, by its name or by its command", () => {
    expect(read({ server: "s" })).toEqual({ target: { server: "s" }, checks: [] });
    expect(read({ command: "node" })).toEqual({ target: { command: ["node"] }, checks: [] });
    expect(read({ command: ["node", "a.mjs"], env: { A: "1", B: "2" } })).toEqual({
      target: { command: ["node", "a.mjs"], env: { A: "1", B: "2" } },
      checks: [],
    });
  });

  test("without further members expects nothing of the tools and results", () => {
    expect(read({ server: "s", tools: {}, checks: [{ call: "a" }] })).toEqual({
      target: { server: "s" },
      tools: { include: [], exact: false, snapshot: false },
      checks: [{ name: "a", call: "a", arguments: {}, expect: {}, masks: [] }],
    });
  });

  test("is read with all its members", () => {
    const latency = { baseline: "first", ratio: 0.5 };
    const file = read({
      server: "s",
      tools: { include: ["a", "b"], exact: true, snapshot: true },
      mask: "req-[0-9]+",
      checks: [
        { name: "first", call: "a", arguments: { x: 1 }, mask: ["m1", "m2"], expect: { contains: "one" } },
        {
          call: "a",
          expect: {
            text: "",
            contains: ["one", "two"],
            matches: "^o",
            structured: null,
            schema: { type: "object" },
            snapshot: false,
            isError: true,
            latency,
          },
        },
      ],
    });
    const pattern = (text: string) => expect.objectContaining({ text });
    const masked = (text: string) => ({ pattern: pattern(text), shown: "<masked>" });
    expect(file).toEqual({
      target: { server: "s" },
      tools: { include: ["a", "b"], exact: true, snapshot: true },
      checks: [
        {
          name: "first",
          call: "a",
          arguments: { x: 1 },
          expect: { contains: ["one"] },
          masks: [masked("req-[0-9]+"), masked("m1"), masked("m2")],
        },
        {
          name: "a",
          call: "a",
          arguments: {},
          expect: {
            text: "",
            contains: ["one", "two"],
            matches: pattern("^o"),
            structured: null,
            schema: { type: "object" },
            snapshot: false,
            isError: true,
            latency,
          },
          masks: [masked("req-[0-9]+")],
        },
      ],
    });
  });
});

const check = (members: object) => ({ server: "s", checks: [{ call: "a" }, { name: "b", call: "b", ...members }] });
const expecting = (members: object) => check({ expect: members });

test.each([
  ["x", "the document must be an object"],
  [{ server: "s", entirely: 1 }, 'the document has an unknown member "entirely"'],
  [{}, 'it needs either "server" or "command"'],
  [{ server: "" }, "server must be a string"],
  [{ server: 1 }, "server must be a string"],
  [{ command: [] }, "command must not be empty"],
  [{ command: ["node", 1] }, "command must be a string"],
  [{ command: "node", env: "A" }, "env must be an object"],
  [{ command: "node", env: { A: "1", B: 2 } }, "env.B must be a string"],
  [{ server: "s", mask: ["a", 1] }, "mask must be a string"],
  [{ server: "s", checks: {} }, "checks must be a list"],
  [{ server: "s", tools: [] }, "tools must be an object"],
  [{ server: "s", tools: { includes: [] } }, 'tools has an unknown member "includes"; did you mean "include"?'],
  [{ server: "s", tools: { include: "a" } }, "tools.include must be a list"],
  [{ server: "s", tools: { include: ["a", ""] } }, "tools.include must be a string"],
  [{ server: "s", tools: { exact: "yes" } }, "tools.exact must be true or false"],
  [{ server: "s", tools: { snapshot: 1 } }, "tools.snapshot must be true or false"],
  [{ server: "s", checks: [1] }, "checks[0] must be an object"],
  [check({ cal: "a" }), 'checks[1] has an unknown member "cal"; did you mean "call"?'],
  [check({ call: "" }), "checks[1].call must be a string"],
  [check({ name: "" }), "checks[1].name must be a string"],
  [check({ arguments: [] }), "checks[1].arguments must be an object"],
  [check({ mask: 1 }), "checks[1].mask must be a string"],
  [check({ expect: "a" }), "checks[1].expect must be an object"],
  [expecting({ iserror: true }), 'checks[1].expect has an unknown member "iserror"; did you mean "isError"?'],
  [expecting({ text: 1 }), "checks[1].expect.text must be a string"],
  [expecting({ contains: ["a", 1] }), "checks[1].expect.contains must be a string"],
  [expecting({ matches: "" }), "checks[1].expect.matches must be a string"],
  [expecting({ schema: true }), "checks[1].expect.schema must be a JSON Schema"],
  [expecting({ snapshot: "yes" }), "checks[1].expect.snapshot must be true or false"],
  [expecting({ isError: "no" }), "checks[1].expect.isError must be true or false"],
  [expecting({ latency: 2 }), "checks[1].expect.latency must be an object"],
  [
    expecting({ latency: { baseline: "a", ratios: 2 } }),
    'checks[1].expect.latency has an unknown member "ratios"; did you mean "ratio"?',
  ],
  [expecting({ latency: { baseline: "a", ratio: 0 } }), "checks[1].expect.latency.ratio must be a number above 0"],
  [expecting({ latency: { baseline: "a", ratio: "2" } }), "checks[1].expect.latency.ratio must be a number above 0"],
  [expecting({ latency: { ratio: 2 } }), "checks[1].expect.latency.baseline must be a string"],
  [expecting({ latency: { baseline: "b", ratio: 2 } }), 'the baseline "b" of "b" is not an earlier check'],
  [check({ name: "a" }), 'two checks have the name "a"; give each check its own "name"'],
])("%j is refused as a mistake of the user: %s", (document, mistake) => {
  const attempt = (): unknown => read(document);
  const message = `c.yaml is not a valid file of checks: ${mistake}`;
  expect(attempt).toThrow(expect.objectContaining({ code: "usage", message, next: "fairlead test --help" }));
});
