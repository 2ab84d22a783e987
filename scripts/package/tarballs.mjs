/*
 * Packs the packages that a release has: node scripts/package/tarballs.mjs FOLDER. Each tarball can be installed alone.
 * The tarball of core contains wire, because wire may not be on a registry.
 */
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);
const shell = process.platform === "win32";

/** Packs wire, core and the command into a folder. The sources must be built. */
export async function packTarballs(folder) {
  mkdirSync(folder, { recursive: true });
  const staging = mkdtempSync(join(tmpdir(), "tarballs-"));
  try {
    const workspaces = ["wire", "core", "cli"].flatMap((name) => ["--workspace", `packages/${name}`]);
    const [wire, core, command] = await pack(root, staging, workspaces);
    const whole = join(staging, "core");
    await unpack(core.file, whole);
    await unpack(wire.file, join(whole, "node_modules", wire.name));
    writeFileSync(join(whole, "package.json"), manifestWith(whole, wire.name));
    await pack(whole, folder, []);
    for (const { file } of [wire, command]) copyFileSync(file, join(folder, basename(file)));
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Returns the packed packages: their names and files. */
async function pack(cwd, folder, workspaces) {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder, ...workspaces];
  const { stdout } = await run("npm", args, { cwd, shell });
  return JSON.parse(stdout).map(({ name, filename }) => ({ name, file: join(folder, filename) }));
}

async function unpack(tarball, folder) {
  mkdirSync(folder, { recursive: true });
  await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", folder]);
}

/** Installers do not always install what a bundled package depends on, so the whole package depends on it. */
function manifestWith(folder, bundled) {
  const read = (path) => JSON.parse(readFileSync(join(folder, path, "package.json"), "utf8"));
  const [own, { dependencies }] = [read("."), read(join("node_modules", bundled))];
  own.dependencies = { ...dependencies, ...own.dependencies };
  own.bundleDependencies = [bundled];
  return `${JSON.stringify(own, null, 2)}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await packTarballs(resolve(process.argv[2] ?? "release"));
