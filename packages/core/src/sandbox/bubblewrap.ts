/** Finds bubblewrap, and finds out whether this system lets it make a sandbox. */

import { execFile } from "node:child_process";
import { findOwnProgram, type ProgramPlace } from "../trust/programs.ts";
import { insideId } from "./shared-files.ts";
import { causeOf, installHint, type UnavailableCause, unavailable } from "./unavailable.ts";

/** The options that separate a sandbox from the system. */
export const namespaces: readonly string[] = [
  ..."--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-net".split(" "),
  ..."--die-with-parent --new-session --disable-userns --cap-drop ALL".split(" "),
  ...`--uid ${insideId} --gid ${insideId} --hostname sandbox`.split(" "),
];

const trialTimeout = 10_000;

/**
 * Returns the file of bubblewrap. Its version is not asked, which would cost every start a process: one that is too old
 * says that it does not know an option, and the failure names that.
 *
 * @throws HostError `sandbox_unavailable` if there is none
 */
export async function findBubblewrap(serverName: string, context: ProgramPlace): Promise<string> {
  const found = await look(context);
  if (typeof found !== "string") throw unavailable(serverName, found);
  return found;
}

/** Why servers cannot run in a sandbox on this system, and how to change that. Undefined if they can: a trial has worked. */
export async function whyNoSandbox(context: ProgramPlace): Promise<UnavailableCause | undefined> {
  const found = await look(context);
  if (typeof found !== "string") return found;
  const { stdout } = await run(found, ["--version"]);
  const version = /(\d+)\.(\d+)(?:\.(\d+))?/
    .exec(stdout)
    ?.slice(1)
    .map((text) => Number(text || 0));
  if (version !== undefined && isOlder(version))
    return { why: `bubblewrap ${version.join(".")} is older than 0.8.0 (${found})`, fix: installHint() };
  const { failed, stderr } = await run(found, [...namespaces, ..."--ro-bind / / /bin/true".split(" ")]);
  if (!failed) return undefined;
  const [line = "it printed no error message"] = stderr.split("\n").filter((text) => text.trim() !== "");
  return causeOf(line.replace(/^bwrap: /, ""));
}

async function look(context: ProgramPlace): Promise<string | UnavailableCause> {
  const { platform } = context.environment;
  if (platform !== "linux")
    return { why: `sandboxes need Linux, and this is ${platform}`, fix: "Run it on a system with sandboxes" };
  const found = await findOwnProgram("bwrap", context);
  if (found === undefined) return { why: "bubblewrap (bwrap) is not installed", fix: installHint() };
  return found.file;
}

function isOlder([major = 0, minor = 0]: readonly number[]): boolean {
  return major === 0 && minor < 8;
}

function run(
  file: string,
  args: readonly string[],
): Promise<{ readonly failed: boolean; readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(file, [...args], { cwd: "/", env: {}, timeout: trialTimeout }, (error, stdout, stderr) =>
      resolve({ failed: error !== null, stdout, stderr: stderr || (error?.message ?? "") }),
    );
    child.stdin?.on("error", () => child.stdin?.destroy());
    child.stdin?.end();
  });
}
