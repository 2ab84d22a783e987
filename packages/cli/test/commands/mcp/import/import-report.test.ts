import { describe, expect, test } from "vitest";
import {
  brokenLine,
  type ImportPart,
  type ImportReport,
  importDocument,
  isWritten,
  printImport,
} from "../../../../src/commands/mcp/import.ts";
import type { PlannedServer } from "../../../../src/import/plan.ts";
import { writtenOutput } from "../../../support/written-output.ts";

const source = { program: "cursor", file: "/c/mcp.json" } as const;
const other = { program: "vscode", file: "/v/mcp.json" } as const;
const read = { kind: "read", servers: [], inputs: new Map<string, string>() } as const;

function planned(action: PlannedServer["action"], entry: Readonly<Record<string, unknown>> = { command: "run" }) {
  return { name: "a", target: "a", source, action, conversion: { entry, enabled: true, remarks: [] } } as PlannedServer;
}

function part(servers: readonly PlannedServer[], given: Partial<ImportPart> = {}): ImportPart {
  const destination = { scope: "user", file: "/u/settings.json", word: "user", edit: {} } as const;
  return { destination, files: [{ source, file: read }], servers, undo: [], ...given };
}

const base: ImportReport = {
  parts: [],
  written: false,
  folderTrusted: true,
  trustLine: "fairlead trust add",
  stored: [],
  keepsSecrets: false,
};

function printed(report: Partial<ImportReport>): { readonly stdout: string; readonly stderr: string } {
  const { context, stdout, stderr } = writtenOutput();
  printImport({ ...base, ...report }, context.out);
  return { stdout: stdout(), stderr: stderr() };
}

const entryLines = '  from Cursor (/c/mcp.json)\n    {\n      "command": "run"\n    }\n\n';

describe("each server is shown with what becomes of it", () => {
  const skippedOnly = "(--only a adds";
  test.each<[action: PlannedServer["action"], words: string, taken: boolean]>([
    [{ kind: "add" }, "add", true],
    [{ kind: "replace" }, "replace the existing entry", true],
    [{ kind: "same" }, "already in the settings", false],
    [
      { kind: "exists" },
      "skipped: the settings already have a server of this name (--replace replaces its entry)",
      false,
    ],
    [{ kind: "duplicate", of: other }, "skipped: the same server is in VS Code (/v/mcp.json)", false],
    [
      { kind: "clash", with: other },
      `skipped: VS Code (/v/mcp.json) has a different server of the same name ${skippedOnly} this server under the new name)`,
      false,
    ],
    [{ kind: "untrusted" }, `skipped: the folder of this file is not trusted ${skippedOnly} the server anyway)`, false],
    [{ kind: "not-chosen" }, "skipped: not named in --only", false],
  ])("%j", (action, words, taken) => {
    expect(isWritten(planned(action))).toBe(taken);
    expect(printed({ parts: [part([planned(action)])] })).toEqual({
      stdout: `a: ${words}\n${entryLines}`,
      stderr: taken
        ? "nothing was written; --write adds 1 server to /u/settings.json\n"
        : "nothing to add; nothing was written\n",
    });
  });

  test("of one that cannot be imported only the reason is shown", () => {
    const refused = planned({ kind: "refused" });
    const remarks = [
      { kind: "obstacle", key: "x\u001b", message: "no such key", next: "remove it" },
      { kind: "hint", key: "", message: "a note" },
      { kind: "dropped", key: "y", message: "unused" },
      { kind: "converted", key: "z", message: "renamed" },
    ] as const;
    const server = { ...refused, conversion: { ...refused.conversion, remarks } };
    expect(printed({ parts: [part([server])] }).stdout).toBe(
      [
        "a: cannot be imported",
        "  from Cursor (/c/mcp.json)",
        "  - cannot be converted: x␛: no such key",
        "      next: remove it",
        "  - note: a note",
        "  - not imported: y: unused",
        "  - converted: z: renamed",
        "",
        "",
      ].join("\n"),
    );
  });
});

test("files without servers are listed, and a broken one is named with its position", () => {
  const broken = { kind: "broken", message: "no comma\u001b" } as const;
  const files = [
    { source, file: { ...broken, line: 3, column: 4 } },
    { source: other, file: { kind: "absent" } },
  ] as const;
  expect(printed({ parts: [part([], { files })] })).toEqual({
    stdout: "no servers found in\n  Cursor (/c/mcp.json)\n  VS Code (/v/mcp.json)\n",
    stderr: "/c/mcp.json:3:4: no comma␛; ignored\nnothing to add; nothing was written\n",
  });
  expect(brokenLine(source, broken)).toBe("/c/mcp.json: no comma␛; ignored");
  expect(brokenLine(source, { ...broken, line: 3 })).toBe("/c/mcp.json:3:1: no comma␛; ignored");
});

describe("what was written", () => {
  const token = planned({ kind: "add" }, { command: "run", env: { API_TOKEN: "canary" } });
  const stored = [
    { server: "a", key: "env.API_TOKEN", name: "API_TOKEN", isNew: true },
    { server: "a", key: "env.OTHER", name: "OTHER", isNew: false },
  ];
  const project = part([planned({ kind: "add" }), planned({ kind: "replace" })], {
    destination: { scope: "workspace", file: "/w/settings.json", word: "project", edit: {} },
    undo: [{ noUndo: "it has a secret" }],
  });

  test("is said with secrets, undo commands and the approval that is needed", () => {
    const parts = [part([token], { undo: [{ undo: "fairlead mcp remove a" }] }), project];
    const { stderr } = printed({ parts, written: true, stored, folderTrusted: false });
    expect(stderr.split("\n")).toEqual([
      "stored env.API_TOKEN of a as the secret API_TOKEN",
      "stored env.OTHER of a as the secret OTHER",
      "wrote 1 server to /u/settings.json and 2 servers to /w/settings.json",
      "undo: npx --no -- fairlead mcp remove a",
      "cannot be undone: it has a secret",
      "undo: npx --no -- fairlead secret remove API_TOKEN",
      "The folder is not trusted yet, so Fairlead ignores its settings. The imported servers need your approval.",
      "  next: npx --no -- fairlead trust add",
      "",
    ]);
    expect(printed({ parts: [project], written: true }).stderr).toContain(
      "it has a secret\nThe imported servers need your approval.\n",
    );
    expect(printed({ parts: [part([token])], written: true }).stderr).toBe("wrote 1 server to /u/settings.json\n");
  });

  test.each<[report: Partial<ImportReport>, remark: object]>([
    [
      {},
      {
        kind: "converted",
        message: "looks like a secret: it will be stored, and the entry refers to it as ${secret:API_TOKEN}",
      },
    ],
    [
      { written: true, stored: [{ server: "a", key: "env.API_TOKEN", name: "A_API_TOKEN", isNew: true }] },
      {
        kind: "converted",
        message: "looks like a secret: it is stored, and the entry refers to it as ${secret:A_API_TOKEN}",
      },
    ],
    [
      { keepsSecrets: true },
      {
        kind: "hint",
        message: "looks like a secret and is written unchanged; store it and write ${secret:API_TOKEN} instead",
        next: "fairlead secret set API_TOKEN",
      },
    ],
  ])("has a remark about a literal secret: %j", (report, remark) => {
    expect(importDocument({ ...base, ...report, parts: [part([token])] })).toMatchObject({
      servers: [{ remarks: [{ key: "env.API_TOKEN", ...remark }] }],
    });
    expect(JSON.stringify(importDocument({ ...base, ...report, parts: [part([token])] }))).not.toContain("canary");
  });

  test("is one document with --json", () => {
    const files = [
      { source, file: read },
      { source: other, file: { kind: "broken", message: "m", line: 1 } },
    ] as const;
    const servers = [planned({ kind: "duplicate", of: other }), planned({ kind: "clash", with: other })];
    const target = { scope: "user", file: "/u/settings.json" };
    const server = { name: "a", from: { ...source, name: "a" }, target, entry: { command: "run" }, enabled: true };
    expect(importDocument({ ...base, parts: [part(servers, { files })] })).toEqual({
      written: false,
      target,
      sources: [
        { ...source, state: "read", servers: 0 },
        { ...other, state: "broken", message: "m", line: 1 },
      ],
      servers: [
        { ...server, action: "duplicate", sameAs: other, remarks: [] },
        { ...server, action: "clash", clashesWith: other, remarks: [] },
      ],
    });
    expect(importDocument(base)).toEqual({ written: false, sources: [], servers: [] });
    const undo = [{ undo: "fairlead mcp remove a" }, { noUndo: "it has a secret" }];
    expect(importDocument({ ...base, written: true, stored, parts: [part([], { undo })] })).toMatchObject({
      written: true,
      secrets: [
        { server: "a", key: "env.API_TOKEN", name: "API_TOKEN" },
        { server: "a", key: "env.OTHER", name: "OTHER" },
      ],
      undo: ["fairlead mcp remove a", "fairlead secret remove API_TOKEN"],
    });
  });
});
