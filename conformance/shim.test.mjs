/** Tests which outside code the shim may use, and that its page is generated. */

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { outcomeOf, surprisesIn } from "./gateway/outcome.mjs";
import { conformancePage } from "./page.mjs";
import { parseSummary, summary } from "./report.mjs";
import { settingsFor } from "./settings.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const expected = JSON.parse(readFileSync(`${here}/expected.json`, "utf8"));
const gateway = JSON.parse(readFileSync(`${here}/gateway/expected.json`, "utf8"));

/** Returns every line of the shim with this text, by file. */
function linesWith(text) {
  const files = readdirSync(here).filter((name) => /^[^.]+[.]mjs$/.test(name));
  const lines = files.map((file) => [file, readFileSync(`${here}/${file}`, "utf8").split("\n")]);
  const found = lines.map(([file, all]) => [file, all.filter((line) => line.includes(text))]);
  return Object.fromEntries(found.filter(([, all]) => all.length > 0));
}

test("no file imports the SDK", () => {
  expect(linesWith("@modelcontextprotocol/client")).toEqual({});
});

test("every scenario runs through createHost() alone", () => {
  expect(linesWith("./bundle/")).toEqual({ "client.mjs": ['import { createHost } from "./bundle/host.js";'] });
});

test("docs/conformance.md is the page of expected.json", () => {
  expect(readFileSync(`${here}/../docs/conformance.md`, "utf8")).toBe(conformancePage(expected, gateway));
});

test("the page has every scenario and every exception", () => {
  const page = conformancePage(expected, gateway);
  for (const [version, { scenarios, exceptions = {} }] of Object.entries(expected)) {
    for (const name of Object.keys(scenarios)) expect(page).toContain(`\n| \`${name}\``);
    for (const [name, why] of Object.entries(exceptions))
      expect(page).toContain(`Expected to fail in ${version}: \`${name}\`. ${why}`);
  }
});

test("the page has every way through the gateway, and every exception", () => {
  const page = conformancePage(expected, gateway);
  for (const [key, { passed, of }] of Object.entries(gateway.legs))
    expect(page).toContain(`| ${key} | ${passed} of ${of} |`);
  for (const scenarios of Object.values(gateway.exceptions))
    for (const [name, why] of Object.entries(scenarios)) {
      expect(page).toMatch(new RegExp(`^- .*\`${name}\` `, "m"));
      expect(page).toContain(why);
    }
  for (const [set, { unscored }] of Object.entries(gateway.direct))
    for (const [name, words] of Object.entries(unscored)) expect(page).toContain(`| \`${name}\`, ${set} | ${words} |`);
});

test("a check that did not pass through the gateway is named, also in a scenario that passed", () => {
  const check = (id, status, errorMessage) => ({ id, status, errorMessage });
  const scenario = (...checks) => ({ ok: true, isScored: true, checks });
  const direct = { a: scenario(check("1", "SUCCESS"), check("2", "SUCCESS")), b: scenario(check("3", "SUCCESS")) };
  const through = { a: scenario(check("1", "SUCCESS"), check("2", "WARNING", "late")), b: scenario() };
  expect(outcomeOf(through, direct)).toMatchObject({
    passed: 1,
    of: 2,
    failed: ["b"],
    missing: [
      { check: "a:2", why: "WARNING: late" },
      { check: "b:3", why: "not run" },
    ],
  });
});

test("scenarios that are not scored count too: those that fail are named, and each gets a few words", () => {
  const check = (id, status) => ({ id, status });
  const scenario = (ok, ...checks) => ({ ok, isScored: false, checks });
  const passed = scenario(true, check("1", "SUCCESS"));
  const direct = { a: passed, b: scenario(true, check("2", "SUCCESS"), check("3", "SUCCESS")), c: scenario(true) };
  expect(outcomeOf(direct)).toMatchObject({
    of: 0,
    unscoredFailed: [],
    unscored: { a: "passed, 1 check", b: "passed, 2 checks", c: "nothing checked" },
  });
  const through = outcomeOf({ ...direct, b: scenario(false, check("2", "SUCCESS"), check("3", "FAILURE")) }, direct);
  expect(through).toMatchObject({ unscoredFailed: ["b"], unscored: { b: "failed" } });
  expect(surprisesIn("k", through)).toEqual(["k: b failed (not scored)", "k: b:3 did not pass (FAILURE)"]);
  expect(surprisesIn("k", through, { b: "" })).toEqual([]);
  expect(outcomeOf({ a: scenario(false) })).toMatchObject({ unscoredFailed: ["a"], unscored: { a: "failed" } });
});

test("excuses count for what they name, and only while it happens", () => {
  const found = {
    failed: ["a"],
    unscoredFailed: [],
    missing: [
      { check: "a:1", why: "x" },
      { check: "b:2", why: "y" },
    ],
  };
  expect(surprisesIn("k", found, { a: "", "b:2": "" })).toEqual([]);
  expect(surprisesIn("k", found, { b: "", c: "" })).toEqual([
    "k: a failed",
    "k: a:1 did not pass (x)",
    "k: b passed and needs no excuse any more",
    "k: c passed and needs no excuse any more",
  ]);
});

test("an outcome is read from its line as it was written", () => {
  const outcome = { ok: false, passed: 12, failed: 3, warned: 0, skipped: 1 };
  expect(parseSummary(summary(outcome))).toEqual(outcome);
});

test("credentials of the suite become settings, and nothing else", () => {
  const { settings, env } = settingsFor("auth/wif-jwt-bearer", "http://localhost:1/mcp", {
    client_id: "c",
    valid_jwt: "a.b.c",
  });
  expect(settings.mcpServers.conformance).toEqual({ url: "http://localhost:1/mcp" });
  expect(settings.fairlead.servers.conformance.machineAuth).toEqual({
    kind: "jwt_bearer",
    clientId: "c",
    assertionEnv: "CONFORMANCE_TOKEN",
  });
  expect(env).toEqual({ CONFORMANCE_TOKEN: "a.b.c" });
});
