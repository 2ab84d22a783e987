// Makes the copy of the checkout that gets the mutants.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
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
  // Tools write these caches in place. Through the hard links, they would change the files of the checkout.
  for (const cache of [".vite", ".vitest", ".cache"])
    rmSync(join(copy, "node_modules", cache), { recursive: true, force: true });
  const remove = () => {
    endProcessesOf(copy);
    rmSync(join(copy, ".."), { recursive: true, force: true, maxRetries: 5 });
  };
  return { copy, remove };
}

/** Ends the test processes and the programs that tests started, which an interrupted run leaves behind. Linux only. */
function endProcessesOf(copy) {
  for (const pid of process.platform === "linux" ? readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name)) : [])
    try {
      const isOurs = readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(copy);
      if (isOurs && Number(pid) !== process.pid) process.kill(Number(pid), "SIGKILL");
    } catch {
      // The process has ended meanwhile.
    }
}

function packageModules(root) {
  return readdirSync(join(root, "packages"))
    .map((name) => join("packages", name, "node_modules"))
    .filter((folder) => readdirSync(join(root, folder, "..")).includes("node_modules"));
}
