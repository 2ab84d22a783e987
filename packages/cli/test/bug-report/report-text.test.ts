import { expect, test } from "vitest";
import { type BugReport, reportText } from "../../src/commands/bug-report.ts";

const empty: BugReport = {
  created: "2026-01-31T08:30:05.123Z",
  versions: {},
  trusted: false,
  settings: [],
  problems: [],
  servers: [],
  logs: [],
};

const head = [
  "# Fairlead bug report",
  "",
  "What I did, what I expected, and what happened instead:",
  "",
  "(write it here)",
];

function section(title: string, text: string, fence = "```"): readonly string[] {
  return ["", `## ${title}`, "", `${fence}text`, text, fence];
}

test("the maintainer reads every part of a report, in a fixed order, with its secrets hidden", () => {
  const report: BugReport = {
    ...empty,
    versions: { fairlead: "1.0.0", node: "v24" },
    trusted: true,
    settings: [
      { scope: "user", file: "/u.json", state: "read", keys: { a: true } },
      { scope: "workspace", file: "/w.json", state: "absent" },
    ],
    problems: ["p1", "p2 SECRET"],
    servers: [{ name: "s" }, { name: "t\u001b" }],
    attempt: { server: "s", steps: ["one", "two"], messages: [] },
    logs: [
      { server: "s", lines: ["l1", "l2\u001b"] },
      { server: "a\nb", lines: ["``` SECRET ````"] },
    ],
  };
  const text = reportText(report, (shown) => shown.replaceAll("SECRET", "(hidden)"));
  expect(text.split("\n")).toEqual([
    ...head,
    ...section("Versions", "fairlead 1.0.0\nnode v24\ncreated 2026-01-31T08:30:05.123Z").flatMap((line) =>
      line.split("\n"),
    ),
    ...section("Workspace", "trusted"),
    ...section(
      "Settings: names of keys only, no values",
      'user /u.json (read)\n{\n  "a": true\n}\nworkspace /w.json (absent)',
    ).flatMap((line) => line.split("\n")),
    ...section("Problems in the settings", "p1\np2 (hidden)").flatMap((line) => line.split("\n")),
    ...section("Servers", '{\n  "name": "s"\n}\n{\n  "name": "t\\u001b"\n}').flatMap((line) => line.split("\n")),
    ...section("Connection to s: steps", "one\ntwo").flatMap((line) => line.split("\n")),
    ...section("Connection to s: last messages, without their content", "(none)"),
    ...section("Log of s: last lines", "l1\nl2␛").flatMap((line) => line.split("\n")),
    ...section("Log of a b: last lines", "``` (hidden) ````", "`````"),
    "",
  ]);
});

test("the maintainer reads which parts are empty", () => {
  expect(reportText(empty, (shown) => shown).split("\n")).toEqual([
    ...head,
    ...section("Versions", "created 2026-01-31T08:30:05.123Z"),
    ...section("Workspace", "not trusted"),
    ...section("Settings: names of keys only, no values", "(none)"),
    ...section("Problems in the settings", "(none)"),
    ...section("Servers", "(none)"),
    "",
  ]);
});
