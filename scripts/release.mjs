/*
 * Prepares a release: npm run release [-- VERSION] [--dry-run]. With a version, sets it everywhere and dates the section
 * of the changelog. Builds, packs the tarballs, the single executable and the Debian package, and tries each of them
 * from an empty home. Publishes nothing.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const clientFile = "packages/core/src/connect/client-info.ts";
const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Returns the text of a `package.json` or `package-lock.json` with the new version of our own packages. The rest stays
 * unchanged.
 */
export function withVersion(text, version) {
  const document = JSON.parse(text);
  const manifests = document.packages === undefined ? [document] : ownManifests(document.packages);
  for (const manifest of manifests) {
    if (manifest.version !== undefined) manifest.version = version;
    for (const kind of ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"])
      for (const name of Object.keys(manifest[kind] ?? {}).filter(isOurs)) manifest[kind][name] = version;
  }
  return `${JSON.stringify(document, null, 2)}\n`;
}

function ownManifests(packages) {
  return Object.entries(packages).flatMap(([path, manifest]) => (/^packages\/[^/]+$/.test(path) ? [manifest] : []));
}

function isOurs(name) {
  return name === "fairlead" || name.startsWith("@fairlead/");
}

/** Returns the source of the client's name and version, with the new version. */
export function withClientVersion(text, version) {
  const changed = text.replace(/(name: "fairlead"[^}]*version: ")[^"]+(")/, `$1${version}$2`);
  if (!changed.includes(`version: "${version}"`)) throw new Error("the client's version was not found");
  return changed;
}

/** Returns the changelog with the unreleased changes under the version, and an empty section for later changes. */
export function releasedChangelog(text, version, date) {
  if (text.includes(`\n## ${version} `)) throw new Error(`CHANGELOG.md has a section ${version} already`);
  const sections = /^([\s\S]*?\n)## Unreleased\n([\s\S]*?)((?:\n## [\s\S]*)?)$/.exec(text);
  if (sections === null) throw new Error("CHANGELOG.md has no section Unreleased");
  const [, before, unreleased, after] = sections;
  if (unreleased.trim() === "") throw new Error("CHANGELOG.md has nothing unreleased");
  return `${before}## Unreleased\n\n## ${version} (${date})\n\n${unreleased.trim()}\n${after}`;
}

/** Whether a version is later than another. Both consist of three numbers. */
export function isNext(version, current) {
  const [wanted, had] = [version, current].map((text) => /^(\d+)\.(\d+)\.(\d+)$/.exec(text)?.slice(1).map(Number));
  if (wanted === undefined || had === undefined) return false;
  const first = wanted.findIndex((number, index) => number !== had[index]);
  return first !== -1 && wanted[first] > had[first];
}

/** Returns the texts that the new version changes, by file. */
export function filesOf(version, current, read) {
  if (!isNext(version, current)) throw new Error(`"${version}" does not follow ${current}`);
  const manifests = readdirSync(join(root, "packages")).map((name) => `packages/${name}/package.json`);
  const date = new Date().toISOString().slice(0, 10);
  return new Map([
    ...[...manifests, "package-lock.json", "server.json"].map((file) => [file, withVersion(read(file), version)]),
    [clientFile, withClientVersion(read(clientFile), version)],
    ["CHANGELOG.md", releasedChangelog(read("CHANGELOG.md"), version, date)],
    // The page names the files of the release.
    ["docs/install.md", read("docs/install.md").replaceAll(current, version)],
  ]);
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { "dry-run": { type: "boolean", default: false } },
  });
  const read = (file) => readFileSync(join(root, file), "utf8");
  const { version: current } = JSON.parse(read("packages/cli/package.json"));
  const [version = current] = positionals;
  const files = positionals.length === 0 ? new Map() : filesOf(version, current, read);
  const isDry = values["dry-run"];
  for (const [file, text] of files) {
    say(`${isDry ? "would write" : "writes"} ${file}${read(file) === text ? " (unchanged)" : ""}`);
    if (!isDry) writeFileSync(join(root, file), text);
  }

  /** The tests try what is in this folder. */
  const env = { ...process.env, FAIRLEAD_RELEASE: join(root, "release") };
  const steps = [
    ["npm", "run", "build"],
    ["npm", "run", "check"],
    ["node", "scripts/package/tarballs.mjs", "release"],
    ["node", "scripts/package/executable.mjs", "release"],
    ["node", "scripts/package/debian.mjs", "release"],
    ["npx", "vitest", "run", "packages/cli/test/published.test.ts"],
  ];
  if (!isDry) {
    rmSync(join(root, "release"), { recursive: true, force: true });
    mkdirSync(join(root, "release"));
  }
  for (const [command, ...args] of steps) {
    say(`${isDry ? "would run" : "runs"} ${[command, ...args].join(" ")}`);
    if (!isDry) execFileSync(command, args, { cwd: root, env, stdio: "inherit", shell: process.platform === "win32" });
  }
  say(`${isDry ? "would write" : "writes"} release/SHA256SUMS`);
  if (!isDry) writeChecksums(join(root, "release"));
  say(`\n${version} is ${isDry ? "possible" : "packed in release/"}. To publish it, type:`);
  if (files.size > 0) say(`  git commit -m "chore: release ${version}" -- ${[...files.keys()].join(" ")}`);
  say(`  git tag -a v${version} -m "Fairlead ${version}" && git push --follow-tags`);
  say('  for tarball in release/*.tgz; do npm publish --access public "$tarball"; done');
}

/** In the format of the program `sha256sum`. */
function writeChecksums(folder) {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const lines = files.map(({ name }) => {
    const digest = createHash("sha256").update(readFileSync(join(folder, name)));
    return `${digest.digest("hex")}  ${name}\n`;
  });
  writeFileSync(join(folder, "SHA256SUMS"), lines.join(""));
}

function say(text) {
  process.stdout.write(`${text}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    main();
  } catch (error) {
    process.stderr.write(`error: ${error.message}\n`);
    process.exitCode = 1;
  }
}
