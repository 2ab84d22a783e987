/** `fairlead lock verify`: compares the workspace's servers with the lock file. */

import { type ErrorCode, exitCodeOf, HostError } from "@fairlead/core/errors";
import { readLock } from "@fairlead/core/policy/lock/lock-file";
import { joinSafe, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { breakingDrift } from "../../lock/breaking.ts";
import { checkLock, errorOf, type LockCheck, type LockWorkspace, openWorkspace } from "../../lock/workspace.ts";
import { count } from "../../output/output.ts";
import { checkedDocument, checkedText } from "../../output/policy/lock-report.ts";
import type { Context, Verb } from "../../shell/verb.ts";

export const verb: Verb = {
  help: `
Connects to every server in the workspace's settings and compares it with .gemini/mcp.lock. Exit codes: 0 nothing
differs; 6 something differs, or the folder is not trusted; 4 a server could not be reached, so it was not compared.
A removed tool, a new required parameter or a narrower type is breaking; changed descriptions, new tools and optional
parameters are not. With --breaking, only breaking changes count. Review the other changes all the same: models read the
descriptions. With --trust-workspace (for CI), a server whose entry differs from the lock file is not started.

Examples:
  fairlead lock verify
  fairlead lock verify --json
  fairlead lock verify --breaking
  fairlead lock verify --trust-workspace      in CI`,

  define: (command) => command.option("--breaking", "fail on breaking changes only"),

  async run(context) {
    const { out, globals, command } = context;
    const { breaking: onlyBreaking = false } = command.opts<{ readonly breaking?: boolean }>();
    const workspace = await openWorkspace(context);
    const { file, entries } = workspace;
    const lock = await readLock(file);
    if (lock === undefined && entries.size === 0) return tellNothing(workspace, context);
    if (lock === undefined) throw notThere(workspace);
    const checked = await checkLock(lock, workspace, context);
    const isWrong = (one: LockCheck): boolean =>
      onlyBreaking ? breakingDrift(one).length > 0 : one.drift !== undefined;
    const ok = !checked.some((one) => isWrong(one) || errorOf(one) !== undefined);
    if (globals.json) out.json({ file, ok, servers: checked.map(checkedDocument) });
    else if (checked.length > 0) out.show(joinSafe(checked.map((one) => out.typed(checkedText(one)))));
    failUnlessSame(checked, isWrong);
  },
};

/**
 * Throws if a server differs from the lock file or could not be reached. If both happen, the error code is `changed`.
 */
function failUnlessSame(checked: readonly LockCheck[], isWrong: (one: LockCheck) => boolean): void {
  const drifted = checked.filter(isWrong);
  const errors = checked.flatMap((one) => errorOf(one) ?? []);
  const unasked = `${errors.length} of ${count(checked.length, "server")} could not be checked`;
  const [only] = drifted;
  if (only !== undefined) {
    const message = `${drifted.length} of ${count(checked.length, "server")} ${drifted.length === 1 ? "differs" : "differ"} from the lock file`;
    throw new HostError("changed", errors.length === 0 ? message : `${message}, and ${unasked}`, {
      next: `to accept the change: fairlead lock update${drifted.length === 1 ? ` ${toShellWord(only.name)}` : ""}`,
    });
  }
  const worst = errors.map(({ code }) => code).toSorted((a, b) => exitCodeOf(b) - exitCodeOf(a))[0];
  if (worst !== undefined) throw new HostError(worst, unasked, { next: nextFor(worst, errors) });
}

function nextFor(code: ErrorCode, errors: readonly HostError[]): string {
  return errors.find((error) => error.code === code)?.next ?? "fairlead mcp list";
}

function tellNothing({ file, configuration }: LockWorkspace, { out, globals }: Context): void {
  const settings = toSafeLine(configuration.locations.files.workspace ?? "");
  if (globals.json) out.json({ file, ok: true, servers: [] });
  else out.show(safe`Nothing to verify: no servers in ${settings}, and no lock file.`);
}

/** Returns the error for a missing lock file. Without an error, deleting the lock file would turn the check off. */
function notThere({ file, entries }: LockWorkspace): HostError {
  const message = `${file} does not exist: ${count(entries.size, "server")} of this workspace ${entries.size === 1 ? "is" : "are"} not locked`;
  return new HostError("changed", message, { next: "fairlead lock" });
}
