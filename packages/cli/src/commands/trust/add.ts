/** `fairlead trust add`: shows what a workspace would start, to the last character, and asks. */

import { dirname } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { approve } from "@fairlead/core/trust/approvals";
import { setFolderTrust, TrustLevel } from "@fairlead/core/trust/trusted-folders";
import type { Output } from "../../output/output.ts";
import type { Io } from "../../shell/io.ts";
import { canAsk, confirm } from "../../shell/prompt.ts";
import type { Verb } from "../../shell/verb.ts";
import { inFolder } from "./folder.ts";
import { type Pending, type Review, review, reviewText } from "./review.ts";

interface Options {
  readonly yes?: boolean;
  readonly parent?: boolean;
}

export const verb: Verb = {
  define(command) {
    command
      .argument("[dir]", "the folder; without it, the workspace root")
      .option("-y, --yes", "trust the folder and approve all of its servers, without asking")
      .option("--parent", "trust the folder above, and so every folder in it")
      .addHelpText(
        "after",
        `
Shows every server of the folder's settings exactly as it would be run or reached, then asks: first about the folder,
then about each server. Enter means no. An approval holds for that exact entry: when it changes, you are asked again.
A second run asks only about what is new or changed. Without a terminal nothing is written unless you say --yes.

Examples:
  fairlead trust add
  fairlead trust add ~/projects/shop
  fairlead trust add --yes          in a script, after a look at the output of the same command without --yes`,
      );
  },

  async run(given) {
    const context = inFolder(given);
    const { io, out, globals, command } = context;
    const { yes = false, parent = false } = command.opts<Options>();
    const found = await review(context);
    const { root, pending, state, trustedFolders } = found;
    const needsTrust = found.needsTrust || parent;
    // The question is asked on stderr, so what it is about is shown there too, also with --quiet.
    if (!yes || !globals.quiet) out.exactly(reviewText(found));
    if ((needsTrust || pending.length > 0) && !yes && !canAsk(io)) refuse(found);

    if (needsTrust && !yes && !(await confirm(io, trustQuestion(root, parent))))
      throw new HostError("denied", `"${root}" stays as it is; nothing was changed`);
    const chosen = yes ? pending : await choose(io, pending);
    if (needsTrust)
      await setFolderTrust(trustedFolders, root, parent ? TrustLevel.TRUST_PARENT : TrustLevel.TRUST_FOLDER);
    if (chosen.length > 0)
      await approve(
        state,
        root,
        chosen.map(({ name, fingerprint }) => ({ name, fingerprint })),
      );

    const approved = chosen.map(({ name }) => name);
    const waiting = pending.filter((server) => !chosen.includes(server)).map(({ name }) => name);
    if (globals.json) return out.json({ root, trusted: true, approved, waiting });
    if (needsTrust) out.print(safe`trusted: ${toSafeLine(parent ? dirname(root) : root)}`);
    if (approved.length > 0) out.print(safe`approved: ${joinSafe(approved.map(toVisibleLine), safe`, `)}`);
    if (waiting.length > 0) out.print(safe`not approved: ${joinSafe(waiting.map(toVisibleLine), safe`, `)}`);
    if (needsTrust || approved.length > 0) sayUndo(found, out);
  },
};

function trustQuestion(root: string, parent: boolean): SafeText {
  return parent
    ? safe`Trust ${toVisibleLine(dirname(root))} and every folder in it?`
    : safe`Trust ${toVisibleLine(root)}?`;
}

/** Removing forgets the rule and every approval: that is a way back only to a folder that had neither. */
function sayUndo({ root, rule, remembered, trustedFolders }: Review, out: Output): void {
  const remove = `fairlead trust remove ${toShellWord(root)}`;
  const before = rule === undefined ? "" : `; the rule before was ${rule} (${trustedFolders})`;
  if (rule === undefined && !remembered) out.undo(remove);
  else out.say(safe`no undo line: ${toSafeLine(remove)} forgets the rule and every approval${toSafeLine(before)}`);
}

/** One question a server, in the order in which they were shown. */
async function choose(io: Io, pending: readonly Pending[]): Promise<readonly Pending[]> {
  const chosen: Pending[] = [];
  for (const server of pending)
    if (await confirm(io, safe`Approve ${toVisibleLine(server.name)}, exactly as shown?`)) chosen.push(server);
  return chosen;
}

function refuse({ root, pending }: Review): never {
  throw new HostError(
    "awaiting_approval",
    `"${root}" waits for your yes (servers to approve: ${pending.length}); there is no terminal to ask on, and nothing was written`,
    { next: `fairlead trust add ${toShellWord(root)}   in a terminal, or with --yes after reading the above` },
  );
}
