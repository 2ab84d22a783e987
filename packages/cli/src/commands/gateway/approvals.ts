/** `fairlead approvals`: lists the clients' requests that wait for approval, and answers them. */

import { HostError } from "@fairlead/core/errors";
import { requestName } from "@fairlead/core/policy";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { type ConsentAnswer, Inbox, type InboxEntry, lateAnswer } from "@fairlead/gateway/consent/inbox";
import { count } from "../../output/output.ts";
import { differenceLines } from "../../output/policy/rule-lines.ts";
import { ageWords } from "../../output/time-text.ts";
import { configurationOf } from "../../shell/configuration.ts";
import type { Context, Verb } from "../../shell/verb.ts";

const about = `
A program that uses fairlead serve asks for your approval in its own window or on a page in your browser. You can also
answer with these commands, or in the terminal app while it runs. A request that was refused because no answer came in
time stays in the list for an hour: if you allow it then, the next identical request within ten minutes is allowed,
once.
`;

const list: Verb = {
  help: `${about}
Examples:
  fairlead approvals
  fairlead approvals list --json`,

  async run(context) {
    const { out, globals } = context;
    const entries = await (await inboxOf(context)).list();
    if (globals.json) return out.json({ approvals: entries.map(toDocument) });
    if (entries.length === 0) return out.say(safe`no requests wait for approval`);
    for (const entry of entries) out.show(line(entry));
    out.say(
      safe`${count(entries.length, "request")}; to answer: fairlead approvals allow ID, or fairlead approvals deny ID`,
    );
  },
};

const show: Verb = {
  help: `${about}
Examples:
  fairlead approvals show 7K2`,

  define: (command) => void command.argument("<id>", "id of the request (see: fairlead approvals list)"),

  async run(context) {
    const { out, globals, operands } = context;
    const entry = await (await inboxOf(context)).show(operands[0] ?? "");
    const { answers, change, deadline = 0 } = entry;
    if (globals.json)
      return out.json({ ...toDocument(entry), answers, expires: new Date(deadline).toISOString(), change });
    for (const each of details(entry)) out.print(each);
  },
};

interface AllowOptions {
  readonly conversation?: boolean;
}

const allow: Verb = {
  help: `${about}
To allow a tool from now on: fairlead policy allow SERVER.TOOL

Examples:
  fairlead approvals allow 7K2
  fairlead approvals allow 7K2 --conversation`,

  define(command) {
    command
      .argument("<id>", "id of the request (see: fairlead approvals list)")
      .option(
        "--conversation",
        "also allow later calls of this tool by this program, until it disconnects; only while it waits for the answer",
      );
  },

  run: (context) => answer(context, context.command.opts<AllowOptions>().conversation ? "conversation" : "once"),
};

const deny: Verb = {
  help: `${about}
Examples:
  fairlead approvals deny 7K2
  fairlead approvals deny 7K2 --because "write to the folder drafts instead"`,

  define(command) {
    command
      .argument("<id>", "id of the request (see: fairlead approvals list)")
      .option("--because <reason>", "why not; the program's model reads it, if the request still waits");
  },

  run: (context) => answer(context, "no", context.command.opts<{ readonly because?: string }>().because),
};

/** The subcommands of `fairlead approvals`. */
export const verbs: Readonly<Record<"list" | "show" | "allow" | "deny", Verb>> = { list, show, allow, deny };

async function inboxOf(context: Context): Promise<Inbox> {
  const { locations } = await configurationOf(context);
  return new Inbox(locations.state);
}

async function answer(context: Context, given: ConsentAnswer, because?: string): Promise<void> {
  const { out, globals, operands } = context;
  const inbox = await inboxOf(context);
  const id = operands[0] ?? "";
  if (given === "conversation") {
    const { isAwaited, answers } = await inbox.show(id);
    if (isAwaited && !answers.includes(given))
      throw new HostError("usage", `request ${id} can be allowed only once, not for the conversation`, {
        next: `fairlead approvals allow ${id}`,
      });
  }
  const answered = await inbox.answer(id, given, "fairlead approvals", undefined, because);
  const { isFirst, answer: first, by, at } = answered;
  if (!isFirst)
    throw new HostError("usage", `request ${id} was already answered: ${words[first]}, in ${by}`, {
      next: "fairlead approvals list",
    });
  const use = given === "no" ? "used" : await inbox.useOf(id, answered);
  const counted = use === "later" ? lateAnswer(first) : first;
  if (use === "outdated")
    throw new HostError(
      "changed",
      `request ${id} did not run: the tool's definition changed while the request waited`,
      {
        next: "ask the program (the MCP client) to do the same thing again; Fairlead then shows the change and asks you",
      },
    );
  if (globals.json)
    return out.json({
      id: id.toUpperCase(),
      answer: counted,
      at: new Date(at).toISOString(),
      appliesTo: given === "no" ? undefined : use === "used" ? "request" : "next_request",
    });
  out.show(safe`${toSafeLine(id.toUpperCase())}: ${toSafeLine(words[counted])}`);
  if (counted !== given)
    out.say(safe`not for the conversation: the program no longer waits for this request, so the answer counts once`);
  if (use === "later")
    out.say(
      safe`not run yet: if the program sends the same request again within ten minutes, it runs, unless the tool's definition has changed`,
    );
}

const words: Readonly<Record<ConsentAnswer, string>> = {
  no: "denied",
  once: "allowed once",
  conversation: "allowed for this conversation",
  server: "all tools of the server allowed for this conversation",
  always: "always allowed",
};

/** Returns the details of a request, which a person reads before approving it. Long arguments may be cut. */
function details(entry: InboxEntry): readonly SafeText[] {
  const {
    id,
    client,
    args,
    reason,
    digest,
    change,
    folder,
    hints,
    flags,
    sandbox,
    isCut = false,
    deadline = 0,
  } = entry;
  const written = JSON.stringify(args, undefined, 2).split("\n").map(toVisibleLine);
  const field = (label: SafeText, text: string | undefined): readonly SafeText[] =>
    text ? [safe`${label}: ${toVisibleLine(text)}`] : [];
  return [
    line(entry),
    ...field(safe`client`, client),
    ...field(safe`folder`, folder),
    ...field(safe`server`, sandbox),
    ...field(safe`hints`, hints),
    ...(flags?.split("\n").flatMap((flag) => field(safe`flag`, flag)) ?? []),
    ...field(safe`reason`, reason),
    safe`arguments (sha256 ${toSafeLine(digest)})${isCut ? safe`, only their beginning` : safe``}:`,
    safe`  ${joinSafe(written, safe`\n  `)}`,
    ...(change === undefined ? [] : [safe`the definition has changed:`, ...differenceLines(change, safe`  `)]),
    safe`expires: in ${ageWords(deadline - Date.now())}`,
    safe`to answer: fairlead approvals allow ${toSafeLine(id)}, or fairlead approvals deny ${toSafeLine(id)}`,
  ];
}

/** Returns the one-line form of a request, such as `7K2  files.write_file  for cursor, 2 minutes ago`. */
function line(entry: InboxEntry): SafeText {
  const { id, client, since } = entry;
  return safe`${toSafeLine(id)}  ${requestName(entry)}  for ${toVisibleLine(client)}, ${ageWords(Date.now() - since)} ago`;
}

function toDocument(entry: InboxEntry): object {
  const { id, client, server, kind, name, args, since, reason, folder, hints, flags, sandbox, isCut } = entry;
  return {
    id,
    client,
    server,
    kind: kind === "tool" ? undefined : kind,
    tool: name,
    args,
    since: new Date(since).toISOString(),
    reason,
    hints,
    flags: flags?.split("\n"),
    sandbox,
    folder,
    argsCut: isCut,
  };
}
