import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { filesOf, isNext, releasedChangelog, withClientVersion, withVersion } from "../release.mjs";

const file = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("a manifest gets the version, for itself and for our own packages; all else stays", () => {
  const text = file("packages/core/package.json");
  const { version, dependencies, ...others } = JSON.parse(withVersion(text, "9.8.7"));
  const { version: before, dependencies: had, ...othersBefore } = JSON.parse(text);
  expect(version).toBe("9.8.7");
  expect(dependencies).toEqual({ ...had, "@fairlead/wire": "9.8.7" });
  expect(others.devDependencies["@fairlead/test-servers"]).toBe("9.8.7");
  expect(others.exports).toEqual(othersBefore.exports);
  expect(withVersion(withVersion(text, "9.8.7"), before)).toBe(text);
});

test("the lock file gets the version where our own packages stand in it, and nowhere else", () => {
  const text = file("package-lock.json");
  const { packages } = JSON.parse(withVersion(text, "9.8.7"));
  expect(packages["packages/cli"].version).toBe("9.8.7");
  expect(packages["packages/cli"].devDependencies["@fairlead/core"]).toBe("9.8.7");
  expect(packages["node_modules/vitest"]).toEqual(JSON.parse(text).packages["node_modules/vitest"]);
  const { version } = JSON.parse(file("packages/cli/package.json"));
  expect(withVersion(withVersion(text, "9.8.7"), version)).toBe(text);
});

test("the client tells servers the version of the packages", () => {
  const source = file("packages/core/src/connect/client-info.ts");
  const { version } = JSON.parse(file("packages/core/package.json"));
  expect(withClientVersion(source, version)).toBe(source);
  expect(withClientVersion(source, "9.8.7")).toContain('version: "9.8.7"');
  expect(() => withClientVersion("export const other = 1;", "9.8.7")).toThrow("was not found");
});

test("what is unreleased in the changelog becomes the section of the version", () => {
  const before = "# Changelog\n\n## Unreleased\n\n### Fixed\n- One.\n\n## 0.1.0 (2026-01-01)\n\n- Zero.\n";
  expect(releasedChangelog(before, "0.2.0", "2026-02-03")).toBe(
    "# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-02-03)\n\n### Fixed\n- One.\n\n## 0.1.0 (2026-01-01)\n\n- Zero.\n",
  );
  expect(releasedChangelog("# Changelog\n\n## Unreleased\n- One.\n", "0.2.0", "2026-02-03")).toBe(
    "# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-02-03)\n\n- One.\n",
  );
});

test.each([
  ["there already", "# C\n\n## Unreleased\n- One.\n\n## 0.2.0 (2026-01-01)\n", "already"],
  ["without changes", "# C\n\n## Unreleased\n\n## 0.1.0 (2026-01-01)\n", "nothing unreleased"],
  ["without its section", "# C\n", "no section"],
])("a version that is %s is refused", (_, changelog, reason) => {
  expect(() => releasedChangelog(changelog, "0.2.0", "2026-02-03")).toThrow(reason);
});

test.each([
  ["0.2.0", "0.1.9", true],
  ["1.0.0", "0.9.9", true],
  ["0.10.0", "0.9.0", true],
  ["0.1.0", "0.1.0", false],
  ["0.1.9", "0.2.0", false],
  ["v0.3.0", "0.2.0", false],
  ["", "0.2.0", false],
])("%s after %s: %s", (version, current, is) => {
  expect(isNext(version, current)).toBe(is);
});

test("the lock file has the packages of every platform, so that npm ci accepts it with npm 10 and npm 11", () => {
  const { packages } = JSON.parse(file("package-lock.json"));
  const found = (path, name) => {
    for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
      if (packages[`${at === "" ? "" : `${at}/`}node_modules/${name}`] !== undefined) return true;
      if (at === "") return false;
    }
  };
  const needed = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies }).map((name) => [path, name]),
  );
  expect(needed.length).toBeGreaterThan(300);
  expect(needed.filter(([path, name]) => !found(path, name))).toEqual([]);
});

const { version: current } = JSON.parse(file("packages/cli/package.json"));

test("without a version, a release packs the current one and writes into no file of the sources", () => {
  const script = fileURLToPath(new URL("../release.mjs", import.meta.url));
  const shown = execFileSync(process.execPath, [script, "--dry-run"], { encoding: "utf8" });
  expect(shown).toMatch(/^would run npm run build\n/);
  expect(shown.match(/^would write .*$/gm)).toEqual(["would write release/SHA256SUMS"]);
  expect(shown).toContain(`${current} is possible`);
});

test("a new version is in the names of the files that docs/install.md shows", () => {
  const read = (path) => (path === "CHANGELOG.md" ? "# Changelog\n\n## Unreleased\n\n- One.\n" : file(path));
  const page = filesOf("99.0.0", current, read).get("docs/install.md");
  expect(page).toContain("fairlead_99.0.0_amd64.deb");
  expect(page).not.toContain(current);
  expect(() => filesOf(current, current, read)).toThrow("does not follow");
});
