import type { CheckOutcome } from "@fairlead/core/checks/run-checks";
import { HostError } from "@fairlead/core/errors";
import { describe, expect, test } from "vitest";
import { checksDocument, type FileReport, failUnlessPassed, junitText, outcomeText } from "../../src/commands/test.ts";
import { marked } from "../support/plain-style.ts";

const passed: CheckOutcome = { name: "greets", tool: "greet", status: "passed", durationMs: 12.4, problems: [] };
const updated: CheckOutcome = { ...passed, name: "adds", status: "updated", durationMs: 1.5 };
const failed: CheckOutcome = { ...passed, name: "fails\u001b", status: "failed", problems: ["one\u001b", "two"] };
const error = new HostError("server_exited", "it exited", { next: "look" });
const silent = new HostError("server_exited", "it exited too");

test("the user sees one line for each check, and its problems below", () => {
  expect([passed, updated, failed].map((outcome) => outcomeText(outcome, marked))).toEqual([
    "  <green>✓</> greets (12 ms)",
    "  <green>↻</> adds (2 ms, snapshot written)",
    "  <red>✗</> fails␛ (12 ms)\n      one␛\n      two",
  ]);
});

describe("the JSON document", () => {
  test("has the outcome of every file and every check", () => {
    const reports: FileReport[] = [
      { file: "a", server: "s", outcomes: [passed, updated] },
      { file: "b", outcomes: [passed, failed] },
      { file: "c", outcomes: [], error },
    ];
    expect(checksDocument(reports)).toEqual({
      ok: false,
      files: [
        {
          file: "a",
          server: "s",
          ok: true,
          checks: [
            { ...passed, durationMs: 12 },
            { ...updated, durationMs: 2 },
          ],
        },
        {
          file: "b",
          ok: false,
          checks: [
            { ...passed, durationMs: 12 },
            { ...failed, durationMs: 12 },
          ],
        },
        { file: "c", ok: false, checks: [], error: { code: "server_exited", message: "it exited", next: "look" } },
      ],
    });
  });

  test.each<[reports: readonly FileReport[], isOk: boolean]>([
    [[], true],
    [[{ file: "a", outcomes: [passed, updated] }], true],
    [
      [
        { file: "a", outcomes: [passed] },
        { file: "b", outcomes: [failed] },
      ],
      false,
    ],
    [
      [
        { file: "a", outcomes: [], error },
        { file: "b", outcomes: [passed] },
      ],
      false,
    ],
  ])("%#: is ok only if every check of every file passed", (reports, isOk) => {
    expect(checksDocument(reports)).toMatchObject({ ok: isOk });
  });
});

describe("the JUnit file", () => {
  test("has a suite for each file and a case for each check", () => {
    const { tool: _tool, ...list } = updated;
    const reports: FileReport[] = [
      { file: "a.yaml", outcomes: [passed, list, failed] },
      { file: "b.yaml", outcomes: [], error },
    ];
    expect(junitText(reports)).toBe(
      [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<testsuites>",
        '  <testsuite name="a.yaml" tests="3" failures="1" errors="0" time="0.026">',
        '    <testcase classname="greet" name="greets" time="0.012"/>',
        '    <testcase classname="tools" name="adds" time="0.002"/>',
        '    <testcase classname="greet" name="fails\ufffd" time="0.012">',
        '      <failure message="one\ufffd">one\ufffd&#10;two</failure>',
        "    </testcase>",
        "  </testsuite>",
        '  <testsuite name="b.yaml" tests="1" failures="0" errors="1" time="0.000">',
        '    <testcase classname="server" name="connect">',
        '      <error message="it exited"/>',
        "    </testcase>",
        "  </testsuite>",
        "</testsuites>",
        "",
      ].join("\n"),
    );
  });

  test("escapes every character that XML reserves or forbids, each time", () => {
    const name = `&&<<>>""\n\n\u0000\uffff\ud800\t\r😀`;
    const text = "&amp;&amp;&lt;&lt;&gt;&gt;&quot;&quot;&#10;&#10;\ufffd\ufffd\ufffd\t\r😀";
    expect(junitText([{ file: "f", outcomes: [{ ...passed, name }] }])).toContain(` name="${text}" time=`);
  });

  test("has an empty message for a failure without problems", () => {
    expect(junitText([{ file: "f", outcomes: [{ ...failed, problems: [] }] }])).toContain(
      '<failure message=""></failure>',
    );
  });
});

describe("the command", () => {
  const thrown = (reports: readonly FileReport[]): unknown => {
    try {
      failUnlessPassed(reports);
      return undefined;
    } catch (caught) {
      const { code, message, next } = caught as HostError;
      return { code, message, next };
    }
  };
  const update = "if the server is right, change the expectations, or write new snapshots: fairlead test FILE --update";

  test.each<[reports: readonly FileReport[], message: string, next: string | undefined]>([
    [[{ file: "a", outcomes: [failed, passed] }], "1 of 2 checks failed", update],
    [
      [
        { file: "a", outcomes: [failed, passed] },
        { file: "b", outcomes: [failed] },
      ],
      "2 of 3 checks failed",
      update,
    ],
    [
      [
        { file: "a", outcomes: [failed] },
        { file: "b", outcomes: [], error },
      ],
      "1 of 1 checks failed, and 1 of 2 files could not be tested",
      update,
    ],
    [
      [
        { file: "a", outcomes: [passed] },
        { file: "b", outcomes: [], error: silent },
        { file: "c", outcomes: [], error },
      ],
      "2 of 3 files could not be tested",
      "look",
    ],
    [[{ file: "b", outcomes: [], error: silent }], "1 of 1 files could not be tested", undefined],
  ])("%#: fails and says what failed", (reports, message, next) => {
    expect(thrown(reports)).toEqual({ code: "diverged", message, next });
  });

  test("succeeds if nothing failed", () => {
    expect(thrown([])).toBeUndefined();
    expect(thrown([{ file: "a", outcomes: [passed, updated] }])).toBeUndefined();
  });
});
