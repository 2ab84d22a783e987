/** `fairlead clean`: removes recorded conversations and stored results. */

import { conversationsIn, findConversation, removeConversation } from "@fairlead/core/conversations/list-conversations";
import { HostError } from "@fairlead/core/errors";
import { removeResults } from "@fairlead/core/files/result-files";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { folderOf } from "../../conversations/find-conversation.ts";
import { count } from "../../output/output.ts";
import { configurationOf } from "../../shell/configuration.ts";
import { toMoment } from "../../shell/log-filter.ts";
import { type Context, usageError, type Verb } from "../../shell/verb.ts";

interface Options {
  readonly olderThan?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
}

const usualAge = "30d";

export const verb: Verb = {
  help: `
Without arguments, removes conversations that were not used for 30 days, and large results older than 30 days.
A conversation that is open in another process is kept. Fairlead also removes files automatically: the oldest
conversations if there are more than 1000 or they take more than 2 GB, results after 7 days, and the oldest results
if there are more than 500 or they take more than 1 GB.

Examples:
  fairlead clean --dry-run
  fairlead clean --older-than 7d
  fairlead clean 20260131-083000-1a2b3c`,

  define(command) {
    command
      .argument("[id...]", "remove these conversations")
      .option(
        "--older-than <time>",
        "remove conversations and results older than this age or date: 12h, 7d, 2026-01-31",
      )
      .option("--all", "remove all conversations and results")
      .option("--dry-run", "show what would be removed; remove nothing");
  },

  async run(context) {
    const { out, globals, command } = context;
    const { dryRun = false } = command.opts<Options>();
    const configuration = await configurationOf(context);
    const removed: string[] = [];
    const open: string[] = [];
    const { ids, before } = await wanted(context, configuration);
    for (const id of ids) {
      const isGone = dryRun || (await removeConversation(folderOf(configuration), id));
      (isGone ? removed : open).push(id);
    }
    const results = await removeResults(configuration.locations.state, before, { dryRun });
    if (globals.json) return out.json({ removed, open, results, dryRun });
    for (const id of removed) out.print(safe`${dryRun ? safe`would remove` : safe`removed`} ${toSafeLine(id)}`);
    for (const id of open) out.warn(safe`kept ${toSafeLine(id)}: it is open in another process`);
    if (results.files > 0)
      out.print(safe`${dryRun ? safe`would remove` : safe`removed`} ${count(results.files, "stored result")}`);
    if (removed.length + open.length + results.files === 0) out.say(safe`nothing to remove`);
    else out.say(safe`${count(removed.length, "conversation")}`);
  },
};

interface Wanted {
  readonly ids: readonly string[];
  /** Results stored before this time, in milliseconds since 1970, are removed. */
  readonly before: number;
}

async function wanted(context: Context, configuration: Configuration): Promise<Wanted> {
  const { operands, command } = context;
  const { olderThan, all = false } = command.opts<Options>();
  if ([operands.length > 0, olderThan !== undefined, all].filter(Boolean).length > 1)
    throw usageError("ids, --older-than and --all cannot be combined", context);
  const folder = folderOf(configuration);
  if (operands.length > 0) {
    const ids = await Promise.all(operands.map(async (id) => (await findConversation(folder, id)).id));
    return { ids, before: Number.NEGATIVE_INFINITY };
  }
  const before = all ? Number.POSITIVE_INFINITY : momentOf(olderThan ?? usualAge);
  const ids = (await conversationsIn(folder)).flatMap(({ id, updated }) => (updated < before ? id : []));
  return { ids, before };
}

function momentOf(word: string): number {
  try {
    return toMoment(word, Date.now());
  } catch {
    throw new HostError("usage", `--older-than "${word}" is not a time or a duration`, { next: "--older-than 7d" });
  }
}
