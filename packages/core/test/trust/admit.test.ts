import { describe, expect, test } from "vitest";
import type {
  ConfiguredServer,
  NameList,
  Origin,
  Problem,
  ServerDefinition,
} from "../../src/settings/define/definition.ts";
import {
  type Admission,
  type AdmissionFacts,
  admit,
  admitBuiltIn,
  checkApprovedPrograms,
  whyUnapproved,
} from "../../src/trust/admit.ts";
import type { TrustDecision } from "../../src/trust/trust-decision.ts";

const root = "/work/app";
const userFile = "/home/me/.gemini/settings.json";
const workspaceFile = "/work/app/.gemini/settings.json";

function at(scope: "user" | "workspace" | "system", line: number): Origin {
  const file = { user: userFile, workspace: workspaceFile, system: "/etc/gemini-cli/settings.json" }[scope];
  return { scope, file, line, column: 5 };
}

const invalid: Problem = {
  severity: "error",
  code: "settings_invalid",
  message: "the entry has neither command nor url",
  origin: at("user", 4),
  next: "give it a command",
};
const unset: Problem = { severity: "error", code: "variable_unset", message: "$TOKEN is not set" };
const warning: Problem = { severity: "warning", code: "settings_invalid", message: "unknown key" };

function definition(scope: "user" | "workspace"): ServerDefinition {
  return {
    name: "db",
    scope,
    origin: at(scope, 4),
    transport: { kind: "stdio", command: "node", args: [], env: new Map() },
    variables: [],
    values: new Map(),
    base: { home: "/home/me", folder: root },
    secrets: [],
    timeout: 600_000,
    trust: false,
    excludeTools: [],
    authentication: { provider: "oauth", oauth: {} },
    extras: {
      start: "background",
      trustAnnotations: false,
      sampling: false,
      roots: false,
      alwaysLoad: false,
      share: "auto",
    },
    fingerprint: "f1",
  };
}

function server(scope: "user" | "workspace", changes: Partial<ConfiguredServer> = {}): ConfiguredServer {
  return {
    name: "db",
    scope,
    origin: at(scope, 4),
    kind: "stdio",
    shadows: [],
    enabled: true,
    definition: definition(scope),
    problems: [],
    ...changes,
  };
}

function senseless(scope: "user" | "workspace", changes: Partial<ConfiguredServer> = {}): ConfiguredServer {
  const { definition: _, ...rest } = server(scope, changes);
  return { ...rest, problems: [invalid] };
}

const list = (names: string[], ...origins: Origin[]): NameList => ({ names: new Set(names), origins });
const decision = (trusted: boolean, approvesEntries = false): TrustDecision => ({
  trusted,
  source: "default",
  approvesEntries,
  detail: "no rule covers it",
});
const approved = (fingerprint: string): AdmissionFacts["approvals"] =>
  new Map([["db", { fingerprint, approvedAt: "2026-01-01T00:00:00.000Z" }]]);

function facts(changes: Partial<AdmissionFacts & AdmissionFacts["settings"]> = {}): AdmissionFacts {
  const { allowed, excluded = list([]), ...rest } = changes;
  const settings = { excluded, ...(allowed === undefined ? {} : { allowed }) };
  return { trust: decision(true), approvals: new Map(), locations: { root, rootFrom: "cwd" }, settings, ...rest };
}

const excludedHere = list(["db", "other"], at("user", 9), at("system", 2));
const allowsOthers = list(["other"], at("user", 8));

const admitted: Admission = { status: "admitted" };
const switchedOff: Admission = {
  status: "disabled",
  reason: "user",
  message: '"db" is disabled: fairlead.servers.db.enabled is false',
  next: "fairlead mcp enable db",
};
const isExcluded: Admission = {
  status: "blocked",
  reason: "excluded",
  message: `"db" is excluded by mcp.excluded in ${userFile}:9 and /etc/gemini-cli/settings.json:2`,
  next: `Remove "db" from mcp.excluded in ${userFile}:9 and /etc/gemini-cli/settings.json:2.`,
};
const isNotAllowed: Admission = {
  status: "blocked",
  reason: "not_allowed",
  message: `"db" is not listed in mcp.allowed in ${userFile}:8`,
  next: `Add "db" to mcp.allowed in ${userFile}:8.`,
};
const isUntrusted: Admission = {
  status: "blocked",
  reason: "untrusted_folder",
  message: `"db" (${workspaceFile}:4) belongs to ${root}, a folder that is not trusted: no rule covers it`,
  next: "fairlead trust add",
};
const awaits: Admission = {
  status: "blocked",
  reason: "awaiting_approval",
  message: `"db" (${workspaceFile}:4) has not been approved yet`,
  next: "fairlead trust add",
};
const hasChanged: Admission = { ...awaits, message: `"db" (${workspaceFile}:4) has changed since you approved it` };
const isInvalid: Admission = {
  status: "disconnected",
  reason: "settings_invalid",
  message: `the entry has neither command nor url (${userFile}:4)`,
  next: "give it a command",
};
const isUnset: Admission = { status: "disconnected", reason: "variable_unset", message: unset.message };

describe("one reason at a time", () => {
  test.each<[string, ConfiguredServer, AdmissionFacts, Admission]>([
    ["a user's server", server("user"), facts(), admitted],
    ["a user's server in an untrusted folder", server("user"), facts({ trust: decision(false) }), admitted],
    ["a user's server needs no approval", server("user"), facts({ approvals: approved("another") }), admitted],
    ["a warning stops nothing", server("user", { problems: [warning] }), facts(), admitted],
    ["switched off", server("user", { enabled: false }), facts(), switchedOff],
    ["excluded, with every file that has such a list", server("user"), facts({ excluded: excludedHere }), isExcluded],
    ["a list of others", server("user"), facts({ allowed: allowsOthers }), isNotAllowed],
    ["an empty list", server("user"), facts({ allowed: list([], at("user", 8)) }), isNotAllowed],
    ["named in the list", server("user"), facts({ allowed: list(["db"], at("user", 8)) }), admitted],
    ["names compare exactly", server("user", { name: "DB" }), facts({ excluded: excludedHere }), admitted],
    ["an entry that makes no sense", senseless("user"), facts(), isInvalid],
    ["an unset variable", server("user", { problems: [warning, unset] }), facts(), isUnset],
    ["the first of two mistakes", server("user", { problems: [unset, invalid] }), facts(), isUnset],
    ["a workspace server in an untrusted folder", server("workspace"), facts({ trust: decision(false) }), isUntrusted],
    ["a workspace server not yet approved", server("workspace"), facts(), awaits],
    ["a workspace server approved as it stands", server("workspace"), facts({ approvals: approved("f1") }), admitted],
    ["a workspace server changed since", server("workspace"), facts({ approvals: approved("f0") }), hasChanged],
    ["approved for this run", server("workspace"), facts({ trust: decision(true, true) }), admitted],
    [
      "approved for this run, although changed",
      server("workspace"),
      facts({ trust: decision(true, true), approvals: approved("f0") }),
      admitted,
    ],
  ])("%s", (_, configured, given, expected) => {
    expect(admit(configured, given)).toEqual(expected);
  });
});

describe("of several reasons, the strongest is named", () => {
  // Each row takes one reason away from the row before it: the next in the order shows.
  const all = { excluded: excludedHere, allowed: allowsOthers, trust: decision(false) };
  const { excluded: _, ...notExcluded } = all;
  test.each<[string, ConfiguredServer, AdmissionFacts, Admission]>([
    ["switched off", senseless("workspace", { enabled: false }), facts(all), switchedOff],
    ["excluded", senseless("workspace"), facts(all), isExcluded],
    ["not allowed", senseless("workspace"), facts(notExcluded), isNotAllowed],
    ["untrusted", senseless("workspace"), facts({ trust: decision(false) }), isUntrusted],
    ["makes no sense, so cannot be approved", senseless("workspace"), facts(), isInvalid],
    ["unapproved, before it asks for variables", server("workspace", { problems: [unset] }), facts(), awaits],
    [
      "an unset variable of an approved server",
      server("workspace", { problems: [unset] }),
      facts({ approvals: approved("f1") }),
      isUnset,
    ],
    [
      "approval for the run mends no mistake",
      senseless("workspace"),
      facts({ trust: decision(true, true) }),
      isInvalid,
    ],
  ])("%s", (_, configured, given, expected) => {
    expect(admit(configured, given)).toEqual(expected);
  });
});

test("a workspace that an option named is named in what to type next", () => {
  const locations = { root: "/work/my app", rootFrom: "option" } as const;
  const next = "fairlead trust add '/work/my app'";
  expect(admit(server("workspace"), facts({ locations }))).toEqual({ ...awaits, next });
  expect(admit(server("workspace"), facts({ locations, trust: decision(false) }))).toMatchObject({ next });
});

test.each([
  ["environment", "FAIRLEAD_TRUST_WORKSPACE=0", "Remove FAIRLEAD_TRUST_WORKSPACE=0 from the environment."],
  [
    "embedder",
    "decided by the embedding program",
    'The program that embeds Fairlead must trust the folder: set its host option "trust" to true.',
  ],
  ["file", "DO_NOT_TRUST for /work (/rules:2)", "fairlead trust add"],
] as const)("what to do about a no depends on who said it: %s", (source, detail, next) => {
  const trust: TrustDecision = { trusted: false, source, approvesEntries: false, detail };
  const message = `"db" (${workspaceFile}:4) belongs to ${root}, a folder that is not trusted: ${detail}`;
  expect(admit(server("workspace"), facts({ trust }))).toEqual({ ...isUntrusted, message, next });
});

test("a server without a definition is never admitted, even without a reason", () => {
  const { definition: _, ...server_ } = server("user");
  expect(admit(server_, facts())).toEqual({
    status: "disconnected",
    reason: "settings_invalid",
    message: `"db" (${userFile}:4) is not usable`,
  });
});

test.each([
  ["user", "fairlead mcp enable db"],
  ["workspace", `Remove "enabled": false from fairlead.servers.db in ${workspaceFile}:7.`],
  ["system", 'Remove "enabled": false from fairlead.servers.db in /etc/gemini-cli/settings.json:7.'],
] as const)("switched off in the %s file: it is named, and what turns that switch", (scope, next) => {
  const disabledBy = at(scope, 7);
  expect(admit(server("user", { enabled: false, disabledBy }), facts())).toEqual({
    ...switchedOff,
    message: `"db" is disabled: fairlead.servers.db.enabled is false in ${disabledBy.file}:7`,
    next,
  });
});

test("switched off by the settings that a program passed: only that program can turn it on", () => {
  const disabledBy: Origin = { scope: "user", file: "settings option", line: 1, column: 1 };
  expect(admit(server("user", { enabled: false, disabledBy }), facts())).toEqual({
    ...switchedOff,
    message: '"db" is disabled: fairlead.servers.db.enabled is false in settings option:1',
    next: 'Remove "enabled": false from fairlead.servers.db in settings option:1.',
  });
});

describe("a built-in server", () => {
  const settings = { excluded: list([]), switchedOff: new Map<string, Origin>() };
  const off = { switchedOff: new Map([["db", at("user", 7)]]) };
  const isOff: Admission = { ...switchedOff, message: `${switchedOff.message} in ${userFile}:7` };
  test.each<[string, Partial<Parameters<typeof admitBuiltIn>[1]>, Admission]>([
    ["may start", {}, admitted],
    ["that is in the list may start", { allowed: list(["db"], at("user", 8)) }, admitted],
    ["may start if another one is switched off", { switchedOff: new Map([["other", at("user", 7)]]) }, admitted],
    ["that is switched off", off, isOff],
    ["that is excluded", { excluded: excludedHere }, isExcluded],
    ["that is not in the list", { allowed: allowsOthers }, isNotAllowed],
    ["that is switched off and excluded", { ...off, excluded: excludedHere, allowed: allowsOthers }, isOff],
    ["that is excluded and not in the list", { excluded: excludedHere, allowed: allowsOthers }, isExcluded],
  ])("%s", (_, changes, expected) => {
    expect(admitBuiltIn("db", { ...settings, ...changes })).toEqual(expected);
  });
});

test.each([
  ["plain-name_1.x", "fairlead mcp enable plain-name_1.x"],
  ["two words", "fairlead mcp enable 'two words'"],
  ["x; rm -rf ~", "fairlead mcp enable 'x; rm -rf ~'"],
  ["it's", String.raw`fairlead mcp enable 'it'\''s'`],
  ["--all", "fairlead mcp enable -- --all"],
  ["$(id)", "fairlead mcp enable '$(id)'"],
  ["", "fairlead mcp enable ''"],
])("what to type next survives a shell: %j", (name, next) => {
  expect(admit(server("user", { name, enabled: false }), facts())).toEqual({
    ...switchedOff,
    message: `"${name}" is disabled: fairlead.servers.${name}.enabled is false`,
    next,
  });
});

test.each<[string, { fingerprint?: string; programs?: string[] } | undefined, string[]]>([
  ["has not been approved yet", undefined, ["/a 1"]],
  ["has changed since you approved it", { fingerprint: "f0", programs: ["/a 1"] }, ["/a 1"]],
  ["was approved before approvals covered programs; it would run: /a, /b", {}, ["/a 1", "/b 1"]],
  ["would run another program than you approved: /b", { programs: ["/a 1"] }, ["/b 1"]],
  ["would run another program than you approved: /b", { programs: ["/a 1"] }, ["/a 1", "/b 1"]],
  ["would run another program than you approved: /b", { programs: ["/a 1"] }, ["/b 1", "/c 1"]],
  ["would run a file that has changed since you approved it: /a", { programs: ["/a 1", "/b 1"] }, ["/a 2", "/b 2"]],
  ["would run a file that has changed since you approved it: /b", { programs: ["/a 1", "/b 1"] }, ["/a 1", "/b 2"]],
  ["would run fewer files than you approved", { programs: ["/a 1", "/b 1"] }, ["/a 1"]],
])("a server that is not approved %s", (why, approval, files) => {
  const toPrograms = (words: readonly string[]) =>
    words.map((word) => ({ file: word.slice(0, 2), digest: word.slice(3) }));
  const { fingerprint = "f1", programs } = approval ?? {};
  const given = approval && {
    fingerprint,
    approvedAt: "",
    ...(programs !== undefined && { programs: [toPrograms(programs)] }),
  };
  expect(whyUnapproved(given, { name: "db", fingerprint: "f1", programs: toPrograms(files) })).toBe(why);
});

test("an entry that starts Fairlead's own gateway is not started", () => {
  const own = { kind: "stdio", command: "fairlead", args: ["serve"], env: new Map() } as const;
  const entry = server("user", { definition: { ...definition("user"), transport: own } });
  expect(admit(entry, facts())).toEqual({
    status: "disconnected",
    reason: "settings_invalid",
    message: `"db" (${userFile}:4) is not started: it is Fairlead's own gateway (fairlead serve), which is for other programs`,
    next: "fairlead mcp disable db",
  });
});

test.each<[string, Partial<ServerDefinition>]>([
  ["whose programs need no approval", { resolved: definition("user").transport }],
  ["with an address", { resolved: { kind: "http", url: "https://a.example", headers: new Map() }, programs: [] }],
  ["whose variables are not known", { programs: [] }],
])("before the start of a server %s, no program is compared", async (_, changes) => {
  const place = { environment: { env: {}, platform: "linux", home: "/home/me" }, root, trusted: true } as const;
  await expect(checkApprovedPrograms({ ...definition("user"), ...changes }, place)).resolves.toBeUndefined();
});
