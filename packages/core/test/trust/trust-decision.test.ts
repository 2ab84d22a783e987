import { describe, expect, test } from "vitest";
import { decideTrust, type TrustDecision, type TrustFacts } from "../../src/trust/trust-decision.ts";
import { TrustLevel, type TrustRule } from "../../src/trust/trusted-folders.ts";

const file = "/home/me/.gemini/trustedFolders.json";

function rule(effective: string | undefined, level: TrustLevel, line = 2): TrustRule {
  const origin = { scope: "user", file, line, column: 3 } as const;
  return { path: effective ?? "/gone", level, origin, ...(effective === undefined ? {} : { effective }) };
}

function decide(facts: Partial<TrustFacts>): TrustDecision {
  return decideTrust({
    flag: false,
    env: {},
    folderTrustEnabled: true,
    embedderTrust: undefined,
    ide: undefined,
    hasWorkspace: true,
    rules: [],
    root: "/work/app",
    ...facts,
  }).decision;
}

const trustRule = rule("/work/app", TrustLevel.TRUST_FOLDER);
const distrustRule = rule("/work/app", TrustLevel.DO_NOT_TRUST);

const byFlag = { trusted: true, source: "flag", approvesEntries: true, detail: "--trust-workspace" };
const bySwitch = {
  trusted: true,
  source: "disabled",
  approvesEntries: false,
  detail: "security.folderTrust.enabled is false",
};
const byDefault = { trusted: false, source: "default", approvesEntries: false, detail: "no rule covers it" };
const byEmbedder = (trusted: boolean) => ({
  trusted,
  source: "embedder",
  approvesEntries: false,
  detail: "decided by the embedding program",
});
const byVariable = (name: string, value: string, trusted: boolean, approvesEntries: boolean) => ({
  trusted,
  source: "environment",
  approvesEntries,
  detail: `${name}=${value}`,
});
const byRule = (trusted: boolean, level: TrustLevel, path = "/work/app", line = 2) => ({
  trusted,
  source: "file",
  approvesEntries: false,
  detail: `${level} for ${path} (${file}:${line})`,
});

const byIde = (trusted: boolean) => ({
  trusted,
  source: "ide",
  approvesEntries: false,
  detail: "reported by the IDE, companion on port 4321",
});
const ideTrusts = { isTrusted: true, port: 4321 };
const ideDistrusts = { isTrusted: false, port: 4321 };
const byNothing = { trusted: false, source: "no_workspace", approvesEntries: false, detail: "no workspace is used" };

const fairlead = "FAIRLEAD_TRUST_WORKSPACE";
const gemini = "GEMINI_CLI_TRUST_WORKSPACE";

describe("the first in the order that says anything decides", () => {
  const everythingAgainst: Partial<TrustFacts> = { embedderTrust: false, rules: [distrustRule] };

  test.each<[string, Partial<TrustFacts>, object]>([
    ["nothing is said", {}, byDefault],
    [
      "the flag, against all others",
      { ...everythingAgainst, flag: true, env: { [fairlead]: "false", [gemini]: "0" } },
      byFlag,
    ],
    ["FAIRLEAD_ true", { ...everythingAgainst, env: { [fairlead]: "true" } }, byVariable(fairlead, "true", true, true)],
    ["FAIRLEAD_ 1", { ...everythingAgainst, env: { [fairlead]: "1" } }, byVariable(fairlead, "1", true, true)],
    [
      "FAIRLEAD_ false",
      { embedderTrust: true, env: { [fairlead]: "false" } },
      byVariable(fairlead, "false", false, false),
    ],
    ["FAIRLEAD_ 0", { rules: [trustRule], env: { [fairlead]: "0" } }, byVariable(fairlead, "0", false, false)],
    [
      "FAIRLEAD_ before GEMINI_CLI_",
      { env: { [fairlead]: "false", [gemini]: "true" } },
      byVariable(fairlead, "false", false, false),
    ],
    [
      "GEMINI_CLI_ true, for the folder only",
      { ...everythingAgainst, env: { [gemini]: "true" } },
      byVariable(gemini, "true", true, false),
    ],
    [
      "GEMINI_CLI_ false over the switch",
      { folderTrustEnabled: false, env: { [gemini]: "false" } },
      byVariable(gemini, "false", false, false),
    ],
    [
      "GEMINI_CLI_ where FAIRLEAD_ makes no sense",
      { env: { [fairlead]: "yes", [gemini]: "1" } },
      byVariable(gemini, "1", true, false),
    ],
    ["an empty variable says nothing", { env: { [fairlead]: "", [gemini]: "" } }, byDefault],
    [
      "a variable that makes no sense says nothing",
      { rules: [trustRule], env: { [fairlead]: "TRUE " } },
      byRule(true, "TRUST_FOLDER"),
    ],
    ["the switch, over embedder and file", { ...everythingAgainst, folderTrustEnabled: false }, bySwitch],
    ["the embedder's yes over the file", { embedderTrust: true, rules: [distrustRule] }, byEmbedder(true)],
    ["the embedder's no over the file", { embedderTrust: false, rules: [trustRule] }, byEmbedder(false)],
    ["the IDE's yes over the file", { ide: ideTrusts, rules: [distrustRule] }, byIde(true)],
    ["the IDE's no over the file", { ide: ideDistrusts, rules: [trustRule] }, byIde(false)],
    ["the IDE's yes without a rule", { ide: ideTrusts }, byIde(true)],
    ["the embedder over the IDE", { embedderTrust: true, ide: ideDistrusts }, byEmbedder(true)],
    ["the switch over the IDE", { folderTrustEnabled: false, ide: ideDistrusts }, bySwitch],
    [
      "a variable over the IDE",
      { env: { [gemini]: "false" }, ide: ideTrusts },
      byVariable(gemini, "false", false, false),
    ],
    ["no workspace, whatever the file says", { hasWorkspace: false, rules: [distrustRule] }, byNothing],
    ["no workspace and no rule", { hasWorkspace: false }, byNothing],
    [
      "a file that trusts the current folder, without a workspace",
      { hasWorkspace: false, rules: [trustRule] },
      byRule(true, "TRUST_FOLDER"),
    ],
    ["the embedder's no without a workspace", { hasWorkspace: false, embedderTrust: false }, byEmbedder(false)],
    ["the file's yes", { rules: [trustRule] }, byRule(true, "TRUST_FOLDER")],
    ["the file's no", { rules: [distrustRule] }, byRule(false, "DO_NOT_TRUST")],
  ])("%s", (_, facts, expected) => {
    expect(decide(facts)).toEqual(expected);
  });
});

describe("of the rules, the nearest folder's decides", () => {
  test.each<[string, TrustRule[], object]>([
    ["a parent's rule covers the root", [rule("/work", "TRUST_FOLDER")], byRule(true, "TRUST_FOLDER", "/work")],
    ["the file system's root covers everything", [rule("/", "TRUST_FOLDER")], byRule(true, "TRUST_FOLDER", "/")],
    ["a child's rule says nothing about its parent", [rule("/work/app/sub", "TRUST_FOLDER")], byDefault],
    [
      "a sibling that begins alike says nothing",
      [rule("/work/ap", "TRUST_FOLDER"), rule("/work/app2", "TRUST_FOLDER")],
      byDefault,
    ],
    ["a name that begins with two dots is a name", [rule("/work/app/..x", "TRUST_FOLDER")], byDefault],
    [
      "the longer one distrusts",
      [rule("/work", "TRUST_FOLDER"), rule("/work/app", "DO_NOT_TRUST", 3)],
      byRule(false, "DO_NOT_TRUST", "/work/app", 3),
    ],
    [
      "the longer one trusts",
      [rule("/work/app", "TRUST_FOLDER"), rule("/work", "DO_NOT_TRUST", 3)],
      byRule(true, "TRUST_FOLDER"),
    ],
    ["a tie is distrust, first", [distrustRule, rule("/work/app", "TRUST_FOLDER", 3)], byRule(false, "DO_NOT_TRUST")],
    [
      "a tie is distrust, last",
      [trustRule, rule("/work/app", "DO_NOT_TRUST", 3)],
      byRule(false, "DO_NOT_TRUST", "/work/app", 3),
    ],
    [
      "of two that trust the same folder, the first",
      [trustRule, rule("/work/app", "TRUST_PARENT", 3)],
      byRule(true, "TRUST_FOLDER"),
    ],
    ["a rule without a folder says nothing", [rule(undefined, "TRUST_FOLDER")], byDefault],
  ])("%s", (_, rules, expected) => {
    expect(decide({ rules })).toEqual(expected);
  });
});

const flagged = {
  flag: true,
  folderTrustEnabled: true,
  embedderTrust: undefined,
  ide: undefined,
  hasWorkspace: true,
  rules: [],
  root: "/",
};

test.each([{}, { [fairlead]: "", [gemini]: "" }, { [fairlead]: "true", [gemini]: "0" }])(
  "nothing is wrong with the variables %j",
  (env) => {
    expect(decideTrust({ ...flagged, env }).problems).toEqual([]);
  },
);

test("a variable that makes no sense is named in a warning", () => {
  expect(decideTrust({ ...flagged, env: { [fairlead]: "yes", [gemini]: "\u001b[2J" } }).problems).toEqual([
    {
      severity: "warning",
      code: "settings_invalid",
      message: `the environment variable ${fairlead} is "yes", which is neither true nor false; it is ignored`,
      next: `Set ${fairlead}=true or ${fairlead}=false, or unset it.`,
    },
    {
      severity: "warning",
      code: "settings_invalid",
      message: String.raw`the environment variable ${gemini} is "\u001b[2J", which is neither true nor false; it is ignored`,
      next: `Set ${gemini}=true or ${gemini}=false, or unset it.`,
    },
  ]);
});
