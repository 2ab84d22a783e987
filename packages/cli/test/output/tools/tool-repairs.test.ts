import type { HostTool } from "@fairlead/core/host";
import type { QuarantinedTool } from "@fairlead/core/server/registries";
import { describe, expect, test } from "vitest";
import { quarantineText, repairSummary, repairsText } from "../../../src/output/tools/lists.ts";
import { plain } from "../../support/plain-style.ts";

const options = { style: plain, columns: Number.POSITIVE_INFINITY };

type Repairs = HostTool["repairs"];

function repair(path: string, note: string, rest: Partial<Repairs[number]> = {}): Repairs[number] {
  return { path, keyword: "pattern", action: "moved", note, ...rest };
}

const unusual = repair("/properties/a", "n");
const usual = repair("", "n", { keyword: "$schema", action: "removed" });
const stripped = repair("", "n", { keyword: "additionalProperties" });

function tool(serverToolName: string, ...repairs: Repairs): Pick<HostTool, "server" | "serverToolName" | "repairs"> {
  return { server: "s", serverToolName, repairs };
}

test("how many tools were adapted is said in a sentence, if any was in more than the usual", () => {
  const adapted = tool("b", usual, unusual);
  expect(
    [[], [tool("a"), tool("c", usual, stripped)], [adapted], [tool("a"), adapted, adapted]].map(repairSummary),
  ).toEqual([
    undefined,
    undefined,
    "1 of 1 tool was adapted to the model's API",
    "2 of 3 tools were adapted to the model's API",
  ]);
});

test("what was changed in many places is said once, with the first of them; the usual only where nothing else was", () => {
  const tools = [
    tool("a", repair("/properties/x", "One."), usual, repair("/properties/y", "One."), repair("/properties/z", "Two.")),
    tool("b"),
    tool("c", ...["1", "2", "3", "4", "5"].map((at) => repair(`/properties/p${at}`, "One."))),
    tool("d", usual, stripped),
    tool("e", stripped),
  ];
  expect(repairsText("s", tools, options)).toBe(
    [
      "s: 2 of 5 tools were adapted to the model's API",
      "",
      "  a",
      "      pattern moved at /properties/x, /properties/y: One.",
      "      $schema removed at (root): n",
      "      pattern moved at /properties/z: Two.",
      "",
      "  c",
      "      pattern moved at /properties/p1, /properties/p2, /properties/p3, …+2: One.",
      "",
      "  minor changes in 2 tools: $schema, additionalProperties",
    ].join("\n"),
  );
  expect(repairsText("s", [tool("b")], options)).toBe("s: no changes");
  expect(repairsText("s", [tool("d", usual)], options)).toBe(
    "s: only minor changes\n\n  minor changes in 1 tool: $schema",
  );
});

test("names, places and what is quoted are the server's, and shown as such", () => {
  const path = `/properties/\u001b[2J\n${"x".repeat(1000)}`;
  expect(repairsText("s\r", [tool("a\u202e", repair(path, "gone\n\u001b"))], options)).toBe(
    [
      "s␍: 1 of 1 tool was adapted to the model's API\n",
      "  a⟨U+202E⟩",
      `      pattern moved at /properties/␛[2J␊${"x".repeat(82)}…: gone␊␛`,
    ].join("\n"),
  );
});

describe("tools that no model may see are listed by reason", () => {
  const tools = (count: number, reasonOf: (at: number) => string): readonly QuarantinedTool[] =>
    Array.from({ length: count }, (_, at) => ({ server: "s", serverToolName: `t${at}`, reason: reasonOf(at) }));

  test.each<[tools: readonly QuarantinedTool[], lines: readonly string[]]>([
    [tools(1, () => "too deep\n"), ["not offered to a model: 1 tool", "  s.t0: too deep␊"]],
    [tools(3, (at) => `r${at % 2}`), ["not offered to a model: 3 tools", "  s.t0, s.t2: r0", "  s.t1: r1"]],
    [tools(9488, () => "too many"), ["not offered to a model: 9488 tools", "  s.t0, s.t1, s.t2, …+9485: too many"]],
  ])("%#", (quarantined, lines) => {
    expect(quarantineText(quarantined, plain, false).split("\n")).toEqual(lines);
  });

  test("many reasons only in part, unless everything is wanted", () => {
    const quarantined = tools(12, String);
    expect(quarantineText(quarantined, plain, false).split("\n").slice(-2)).toEqual([
      "  s.t9: 9",
      "  and for 2 other reasons (--all)",
    ]);
    expect(quarantineText(quarantined, plain, true).split("\n")).toHaveLength(13);
  });
});
