// A copy of the checkout to make mistakes in.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Clones HEAD and links the installed packages; the workspace's own links are relative, so in the copy they point to the copy. */
export function copyCheckout(root) {
  const copy = join(realpathSync(mkdtempSync(join(tmpdir(), "mutants-"))), "checkout");
  execFileSync("git", ["clone", "--quiet", "--shared", root, copy]);
  for (const folder of ["node_modules", ...packageModules(root)]) {
    try {
      execFileSync("cp", ["-al", join(root, folder), join(copy, folder)], { stdio: "ignore" });
    } catch {
      execFileSync("cp", ["-R", join(root, folder), join(copy, folder)]);
    }
  }
  // Written in place by the tools, and not ours to change.
  for (const cache of [".vite", ".vitest", ".cache"])
    rmSync(join(copy, "node_modules", cache), { recursive: true, force: true });
  return { copy, remove: () => rmSync(join(copy, ".."), { recursive: true, force: true, maxRetries: 5 }) };
}

function packageModules(root) {
  return readdirSync(join(root, "packages"))
    .map((name) => join("packages", name, "node_modules"))
    .filter((folder) => readdirSync(join(root, folder, "..")).includes("node_modules"));
}
