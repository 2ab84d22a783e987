import { HostError } from "@fairlead/core/errors";
import type { Problem, SettingsFile } from "@fairlead/core/settings/define/definition";
import type { Admission } from "@fairlead/core/trust/admit";
import type { AdmittedServer } from "@fairlead/core/trust/configuration";
import { describe, expect, test } from "vitest";
import { checkPolicy, checkSettings, checkTrust } from "../../src/doctor/check-settings.ts";
import { checkSecrets, checkState } from "../../src/doctor/check-state.ts";
import { concerning, inGroup, note, ok, problem, warning } from "../../src/doctor/finding.ts";
import { configured, definition, origin } from "../support/server-definition.ts";

type SettingsFacts = Parameters<typeof checkSettings>[0];
type TrustFacts = Parameters<typeof checkTrust>[0];

const file = (name: string, state: SettingsFile["state"]): SettingsFile => ({ scope: "user", file: name, state });
const settings = (...files: readonly SettingsFile[]) => ({ files }) as unknown as SettingsFacts["settings"];
const admitted = { server: configured(), admission: { status: "admitted" } } as AdmittedServer;
const blocked = (name: string, reason: "awaiting_approval" | "untrusted_folder" | "excluded"): AdmittedServer => {
  const admission: Admission = { status: "blocked", reason, message: `${name} is blocked`, next: `approve ${name}` };
  return { server: configured({ name }), admission } as AdmittedServer;
};
const mistake: Problem = { severity: "error", code: "variable_unset", message: "m" };

describe("settings files", () => {
  const none = note("no server is configured", "fairlead mcp import");
  test.each<[what: string, facts: SettingsFacts, found: readonly object[]]>([
    [
      "none yet",
      { settings: settings(file("/a", "absent"), file("/b", "absent")), problems: [], servers: [] },
      [ok("no settings file yet"), none],
    ],
    [
      "two that were read, one that was ignored",
      {
        settings: settings(file("/a", "read"), file("/b", "absent"), file("/c", "read"), file("/d", "ignored")),
        problems: [],
        servers: [admitted],
      },
      [ok("read: /a, /c"), note("/d ignored: the folder is not trusted", "fairlead trust add")],
    ],
    ["a broken one may have servers", { settings: settings(file("/a", "broken")), problems: [], servers: [] }, []],
    ["no server in any", { settings: settings(file("/a", "read")), problems: [], servers: [] }, [ok("read: /a"), none]],
    [
      "an entry that replaces another",
      {
        settings: settings(file("/a", "read")),
        problems: [],
        servers: [{ ...admitted, server: configured({ shadows: [{ ...origin, line: 9 }] }) }],
      },
      [
        ok("read: /a"),
        {
          severity: "note",
          message: '"s" in /home/settings.json:3:5 replaces the entry in /home/settings.json:9:5',
          server: "s",
        },
      ],
    ],
    [
      "mistakes, each with a way to correct it",
      {
        settings: settings(file("/a", "read")),
        problems: [
          mistake,
          { ...mistake, severity: "warning", origin, serverName: "s" },
          { ...mistake, next: "n", origin },
        ],
        servers: [admitted],
      },
      [
        ok("read: /a"),
        { severity: "problem", code: "variable_unset", message: "m", next: "fairlead settings validate" },
        {
          severity: "warning",
          server: "s",
          message: "/home/settings.json:3:5: m",
          next: "correct /home/settings.json at line 3, column 5",
        },
        { severity: "problem", code: "variable_unset", message: "/home/settings.json:3:5: m", next: "n" },
      ],
    ],
  ])("%s", (_what, facts, found) => {
    expect(checkSettings(facts)).toEqual(found);
  });
});

test("policy files are counted, their mistakes and unreadable approvals are named", () => {
  const files = [{ state: "read" }, { state: "absent" }, { state: "read" }] as unknown as Parameters<
    typeof checkPolicy
  >[0]["files"];
  const failure = new HostError("internal", "approvals are damaged", { next: "restore them" });
  expect(checkPolicy({ files: [], problems: [], failures: [] })).toEqual([]);
  const problems: readonly Problem[] = [
    { ...mistake, severity: "warning" },
    { ...mistake, origin, next: "n" },
  ];
  expect(checkPolicy({ files, problems, failures: [failure] })).toEqual([
    ok("2 policy files read"),
    { severity: "warning", message: "m", next: "fairlead policy list" },
    { severity: "problem", code: "variable_unset", message: "/home/settings.json:3:5: m", next: "n" },
    { severity: "problem", code: "internal", message: "approvals are damaged", next: "restore them" },
  ]);
});

describe("the trust of the folder", () => {
  const facts = (given: Partial<TrustFacts>, trust: Partial<TrustFacts["trust"]>): TrustFacts => ({
    locations: { root: "/work" } as TrustFacts["locations"],
    settings: settings(),
    servers: [],
    folderTrust: undefined,
    ...given,
    trust: { trusted: false, source: "rule", detail: "why", approvesEntries: false, ...trust } as TrustFacts["trust"],
  });
  const waiting = blocked("late", "awaiting_approval");
  test.each<[what: string, facts: TrustFacts, found: readonly object[]]>([
    [
      "switched off",
      facts({ folderTrust: { ...origin, file: "/etc/s.json" } }, { source: "disabled", trusted: true }),
      [
        warning(
          "every folder is trusted: security.folderTrust.enabled is false in /etc/s.json:3",
          'remove "enabled": false from security.folderTrust in /etc/s.json:3',
        ),
      ],
    ],
    [
      "switched off, and the file with this setting is not known",
      facts({}, { source: "disabled", trusted: true }),
      [
        warning(
          "every folder is trusted: security.folderTrust.enabled is false",
          'remove "enabled": false from security.folderTrust',
        ),
      ],
    ],
    ["given", facts({ servers: [admitted] }, { trusted: true }), [ok("/work is trusted: why")]],
    [
      "given for this run",
      facts({}, { trusted: true, approvesEntries: true }),
      [ok("/work is trusted: why"), note("all servers of this folder are approved for this run: why")],
    ],
    ["not needed", facts({ servers: [admitted] }, {}), [ok("/work is not trusted (why) and has no settings")]],
    [
      "not given, and settings are ignored",
      facts({ settings: settings(file("/work/s.json", "read"), file("/work/t.json", "ignored")) }, {}),
      [warning("/work is not trusted (why), so its settings are ignored", "fairlead trust add")],
    ],
    [
      "not given, and servers are kept from starting",
      facts(
        { servers: [blocked("a", "untrusted_folder"), blocked("x", "excluded"), blocked("b", "untrusted_folder")] },
        {},
      ),
      [warning("/work is not trusted (why), so its settings are ignored (servers: a, b)", "approve a")],
    ],
    [
      "given, but a server waits for approval",
      facts({ servers: [waiting, blocked("x", "excluded")] }, { trusted: true }),
      [
        ok("/work is trusted: why"),
        { severity: "warning", server: "late", message: "late is blocked", next: "approve late" },
      ],
    ],
  ])("%s", (_what, given, found) => {
    expect(checkTrust(given)).toEqual(found);
  });
});

test("secrets that servers need and that are not stored are named; only those of a server that may start are problems", () => {
  const needs = { server: configured({ definition: definition({ secrets: ["A", "B"] }) }) };
  const servers = [
    { ...needs, admission: { status: "admitted" } },
    { ...needs, admission: blocked("s", "excluded").admission },
  ] as readonly AdmittedServer[];
  const missing = {
    server: "s",
    message: '"s" needs the secret B, which is not stored',
    next: "fairlead secret set B",
  };
  expect(checkSecrets({ servers, store: { backend: "keychain", names: new Set(["A"]) } })).toEqual([
    ok("1 stored in the system's keychain"),
    { severity: "problem", code: "variable_unset", ...missing },
    { severity: "note", ...missing },
  ]);
  expect(checkSecrets({ servers: [], store: { backend: "file", names: new Set() } })).toEqual([
    ok("0 stored in an encrypted file (no keychain in use)"),
  ]);
  const error = { code: "internal", message: "locked", next: "unlock it" } as const;
  expect(checkSecrets({ servers, store: { error } })).toEqual([{ severity: "problem", ...error }]);
});

test("a disk is nearly full below 50 MiB, unless the folder cannot be written at all", () => {
  const free = 50 * 1024 * 1024;
  expect(checkState({ folder: "/f", others: "kept out", aside: [], free })).toHaveLength(1);
  expect(checkState({ folder: "/f", others: "kept out", aside: [], free: free - 1 })).toHaveLength(2);
  expect(checkState({ folder: "/f", others: "kept out", aside: [], free: 0, failure: "no" })).toHaveLength(1);
  const aside = ["/f/a b", "/f/c"];
  expect(checkState({ folder: "/f g", others: "let in", aside })).toEqual([
    ok("/f g can be written"),
    warning("other users can read /f g", "chmod 700 '/f g'"),
    warning("damaged files were renamed: /f/a b, /f/c; Fairlead no longer uses the data in them", "rm '/f/a b' /f/c"),
  ]);
});

test("findings about a server are those about it and those about none", () => {
  const findings = inGroup("servers", [{ ...ok("a"), server: "a" }, ok("all"), { ...ok("b"), server: "b" }]);
  expect(findings.map(({ group }) => group)).toEqual(["servers", "servers", "servers"]);
  expect(concerning(findings, "a").map(({ message }) => message)).toEqual(["a", "all"]);
  expect(concerning(findings, undefined)).toEqual(findings);
  expect(problem({ code: "internal", message: "m" } as HostError)).toEqual({
    severity: "problem",
    code: "internal",
    message: "m",
  });
});
