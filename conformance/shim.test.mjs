/** What the shim may take from outside, and that its page is generated. */

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { conformancePage } from "./page.mjs";
import { parseSummary, summary } from "./report.mjs";
import { settingsFor } from "./settings.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const expected = JSON.parse(readFileSync(`${here}/expected.json`, "utf8"));

/** The names that each file of the shim imports from modules that match. */
function importsOf(pattern) {
  const found = {};
  for (const file of readdirSync(here).filter((name) => /^[^.]+[.]mjs$/.test(name))) {
    const text = readFileSync(`${here}/${file}`, "utf8");
    const imports = [
      ...text.matchAll(/(?:import\s*(?:\{([^}]*)\}|([\w*\s]*))\s*from\s*|import\s*\(?\s*)["']([^"']+)["']/g),
    ];
    const names = imports.flatMap(([, braces, whole, from]) =>
      pattern.test(from) ? (braces ?? whole ?? "everything").split(",").map((name) => name.trim()) : [],
    );
    if (names.length > 0) found[file] = names.filter((name) => name !== "").sort();
  }
  return found;
}

test("no file imports a provider of the SDK: only skills use the SDK", () => {
  expect(importsOf(/^@modelcontextprotocol\//)).toEqual({
    "skills.mjs": ["Client", "SkillVerificationError", "SkillsClient"],
  });
});

test("every other scenario runs through createHost() alone", () => {
  expect(importsOf(/\/bundle\/|packages\//)).toEqual({ "client.mjs": ["createHost"], "skills.mjs": ["connect"] });
});

test("docs/conformance.md is the page of expected.json", () => {
  expect(readFileSync(`${here}/../docs/conformance.md`, "utf8")).toBe(conformancePage(expected));
});

test("the page has every scenario and every exception", () => {
  const page = conformancePage(expected);
  for (const [version, { scenarios, exceptions = {} }] of Object.entries(expected)) {
    for (const name of Object.keys(scenarios)) expect(page).toContain(`\n| \`${name}\``);
    for (const [name, why] of Object.entries(exceptions))
      expect(page).toContain(`Expected to fail in ${version}: \`${name}\`. ${why}`);
  }
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
