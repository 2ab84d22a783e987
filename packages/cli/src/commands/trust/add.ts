/** `fairlead trust add`: shows a workspace's servers in full, then asks to trust the folder and approve them. */

import { dirname } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { howToTrust } from "@fairlead/core/trust/admit";
import { approve } from "@fairlead/core/trust/approvals";
import { setFolderTrust, TrustLevel } from "@fairlead/core/trust/trusted-folders";
import type { Output } from "../../output/output.ts";
import { lastingConfiguration } from "../../shell/configuration.ts";
import type { Io } from "../../shell/io.ts";
import { canAsk, confirm } from "../../shell/prompt.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { type Pending, type Review, review, reviewText } from "./review.ts";

interface Options {
  readonly yes?: boolean;
  readonly parent?: boolean;
}

export const verb: Verb = {
  help: `
Shows every server in the folder's settings exactly as it would run, then asks: first about the folder, then about each
server. Enter means no. An approval is valid for the exact entry and program: if either changes, Fairlead asks again.
A second run asks only about new or changed servers. Without a terminal, nothing is written unless you add --yes.

Examples:
  fairlead trust add
  fairlead trust add ~/projects/shop
  fairlead trust add --yes          in a script, after you read the output without --yes`,

  define(command) {
    command
      .argument("[dir]", "the folder to trust; default: the workspace root")
      .option("-y, --yes", "trust the folder and approve all of its servers, without asking")
      .option("--parent", "trust the parent folder and every folder in it");
  },

  async run(given) {
    const context = inFolder(given);
    const { io, out, globals, command } = context;
    const { yes = false, parent = false } = command.opts<Options>();
    const found = await review(context);
    const { root, pending, state, trustedFolders } = found;
    const needsTrust = found.needsTrust || parent;
    // The user must see the servers before the question, even with --quiet. With --yes there is no question.
    if (!yes || !globals.quiet) out.exactly(reviewText(found));
    if ((needsTrust || pending.length > 0) && !yes && !canAsk(io)) refuse(found);

    if (needsTrust && !yes && !(await confirm(io, trustQuestion(root, parent))))
      throw new HostError("denied", `"${root}" is not trusted: you answered no; nothing was changed`);
    const chosen = yes ? pending : await choose(io, pending);
    if (needsTrust)
      await setFolderTrust(trustedFolders, root, parent ? TrustLevel.TRUST_PARENT : TrustLevel.TRUST_FOLDER);
    if (chosen.length > 0)
      await approve(
        state,
        root,
        chosen.map(({ definition }) => definition),
      );

    const { trust, locations } = await lastingConfiguration(context);
    const approved = chosen.map(({ name }) => name);
    const waiting = pending.filter((server) => !chosen.includes(server)).map(({ name }) => name);
    if (globals.json) return out.json({ root, trusted: trust.trusted, approved, waiting });
    if (needsTrust) out.show(safe`trusted: ${toSafeLine(parent ? dirname(root) : root)}`);
    if (approved.length > 0) out.show(safe`approved: ${joinSafe(approved.map(toVisibleLine), safe`, `)}`);
    if (waiting.length > 0) out.show(safe`not approved: ${joinSafe(waiting.map(toVisibleLine), safe`, `)}`);
    // For example, the IDE in whose terminal the command runs does not trust the folder.
    if (!trust.trusted)
      out.warn(
        safe`warning: the folder is still not trusted: ${toSafeLine(trust.detail)}\n  next: ${toSafeLine(howToTrust(trust, locations))}`,
      );
    if (needsTrust || approved.length > 0) sayUndo(found, out);
  },
};

function trustQuestion(root: string, parent: boolean): SafeText {
  return parent
    ? safe`Trust ${toVisibleLine(dirname(root))} and every folder in it?`
    : safe`Trust ${toVisibleLine(root)}?`;
}

/**
 * Prints how to undo `trust add`. If the folder already had a rule or approvals, prints that no command restores them.
 */
function sayUndo({ root, rule, remembered, trustedFolders }: Review, out: Output): void {
  const remove = `fairlead trust remove ${toShellWord(root)}`;
  const before = rule === undefined ? "" : `; the previous rule was ${rule} (${trustedFolders})`;
  if (rule === undefined && !remembered) out.undo(remove);
  else
    out.say(
      safe`previous state cannot be restored: ${toSafeLine(remove)} deletes the rule and all approvals${toSafeLine(before)}`,
    );
}

/** Asks one question for each server, in the order in which the servers were shown. */
async function choose(io: Io, pending: readonly Pending[]): Promise<readonly Pending[]> {
  const chosen: Pending[] = [];
  for (const server of pending)
    if (await confirm(io, safe`Approve ${toVisibleLine(server.name)}, exactly as shown?`)) chosen.push(server);
  return chosen;
}

function refuse({ root, pending }: Review): never {
  const command = `fairlead trust add ${toShellWord(root)}`;
  throw new HostError(
    "awaiting_approval",
    `"${root}" needs your confirmation (servers to approve: ${pending.length}), and there is no terminal to ask on; nothing was written`,
    { next: `in a terminal: ${command}; without a terminal, read the servers above, then run: ${command} --yes` },
  );
}

/** Returns a context in which the folder argument is the workspace, as if the user had given it with `-C`. */
function inFolder(context: Context): Context {
  const [folder] = context.operands;
  return folder === undefined ? context : { ...context, globals: { ...context.globals, root: folder } };
}
