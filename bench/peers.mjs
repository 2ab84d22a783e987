// Installs the other clients in a temporary folder, and keeps it for the next run.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const source = fileURLToPath(new URL("peers/", import.meta.url));

/** `slow`: the factor by which the peer makes fewer calls, so that a run takes minutes. */
const peers = [
  { label: "SDK", file: "sdk.mjs", slow: 4 },
  { label: "Gemini CLI core", file: "gemini.mjs", slow: 40 },
  { label: "mcporter", file: "mcporter.mjs", slow: 4 },
];

/** Returns the drivers of the peers; none if the peers cannot be installed. */
export function installPeers(print) {
  const folder = peersFolder(print);
  if (folder === undefined) return [];
  return peers.map(({ label, file, slow }) => {
    cpSync(join(source, file), join(folder, file));
    return { label, slow, driver: pathToFileURL(join(folder, file)).href };
  });
}

/** Returns the file of a peer's command; undefined if the peers cannot be installed. */
export function peerCommand(name, print) {
  const folder = peersFolder(print);
  return folder && join(folder, "node_modules/.bin", name);
}

/** Returns the folder in which the peers are installed; undefined if they cannot be. */
function peersFolder(print) {
  const manifest = readFileSync(join(source, "package.json"));
  const key = createHash("sha256").update(manifest).update(process.version).digest("hex").slice(0, 12);
  const folder = join(tmpdir(), `fairlead-bench-peers-${key}`);
  if (!existsSync(join(folder, "node_modules/.package-lock.json"))) {
    mkdirSync(folder, { recursive: true });
    cpSync(join(source, "package.json"), join(folder, "package.json"));
    const words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    const { status } = spawnSync("npm", words, { cwd: folder, stdio: ["ignore", "ignore", "pipe"], timeout: 240_000 });
    if (status !== 0) {
      rmSync(folder, { recursive: true, force: true });
      print("other clients skipped: npm cannot install them (is the registry reachable?)");
      return undefined;
    }
  }
  return folder;
}
