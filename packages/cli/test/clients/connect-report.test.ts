import { HostError } from "@fairlead/core/errors";
import { describe, expect, test } from "vitest";
import { type ClientReport, clientDocument, differenceText, printedEntry } from "../../src/clients/connect-report.ts";
import type { MovePlan } from "../../src/clients/move-servers.ts";

const report: ClientReport = { client: "claude-code", file: "/home/me/c\u001b.json", action: "written", warnings: [] };

function moved(name: string): MovePlan["added"][number] {
  const conversion = { entry: { command: "run", env: { API_KEY: "abcdef123456" } }, remarks: [] };
  return { name, target: name, action: { kind: "add" }, conversion } as unknown as MovePlan["added"][number];
}

const move = {
  destination: { file: "/home/me/settings\u001b.json" },
  added: [moved("a\u001b")],
  names: ["a\u001b", "b\u001b"],
  staying: [{ name: "c\u001b", reason: "no\u001b" }],
} as unknown as MovePlan;

describe("the JSON of a changed client", () => {
  test("has only the members that apply", () => {
    expect(clientDocument(report)).toEqual({
      client: "claude-code",
      title: "Claude Code",
      file: "/home/me/c\u001b.json",
      action: "written",
    });
    expect(JSON.stringify(clientDocument(report))).not.toMatch(/"(?:entry|difference|moved|warnings|error)"/);
  });

  test("has the change, the moved servers, the warnings and the error", () => {
    const error = new HostError("usage", "m", { next: "n" });
    const entry = {
      command: "node",
      args: ["sk-abc"],
      env: { API_KEY: "abcdef123456", PLAIN: "x", deep: { token: "t" } },
      port: 7,
    };
    const whole: ClientReport = { ...report, entry, difference: ["+ x"], move, warnings: ["w"], error };
    expect(clientDocument(whole)).toEqual({
      client: "claude-code",
      title: "Claude Code",
      file: "/home/me/c\u001b.json",
      action: "written",
      entry: {
        command: "node",
        args: ["sk-abc"],
        env: { API_KEY: "(hidden)", PLAIN: "x", deep: { token: "(hidden)" } },
        port: 7,
      },
      difference: ["+ x"],
      moved: move.names,
      staying: move.staying,
      warnings: ["w"],
      error: { code: "usage", message: "m", next: "n" },
    });
    expect(clientDocument({ ...whole, action: "printed" })).toMatchObject({ entry });
  });
});

describe("the user sees", () => {
  test("the client, its file, and the changed lines", () => {
    expect(differenceText({ ...report, difference: ["- a\u001b", "+ b"] })).toBe(
      "Claude Code: /home/me/c␛.json\n  - a␛\n  + b",
    );
    expect(differenceText(report)).toBe("Claude Code: /home/me/c␛.json");
  });

  test("the servers that move, those that are removed, and those that stay", () => {
    expect(differenceText({ ...report, move }).split("\n")).toEqual([
      "Claude Code: /home/me/c␛.json",
      "  move a␛ to /home/me/settings␛.json:",
      "    {",
      '      "command": "run",',
      '      "env": {',
      '        "API_KEY": "(hidden)"',
      "      }",
      "    }",
      "  remove b␛ from this file: the server is already in Fairlead's settings",
      "  c␛ stays: no␛",
    ]);
  });

  test("the lines to copy into the client's file", () => {
    expect(printedEntry(report, "{\n  \u001b\n}\n\n")).toBe("# Claude Code: /home/me/c␛.json\n{\n  ␛\n}");
  });
});
