/** `fairlead team approvals`: answers questions about requests of a team's users, for operators with access to the database. */

import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { WaitingRequest } from "@fairlead/team/admin/team-admin";
import { table } from "../../output/output.ts";
import { timeText } from "../../output/time-text.ts";
import type { Verb } from "../../shell/verb.ts";
import { aboutTeam, defineTenant, withTeam } from "./with-team.ts";

const list: Verb = {
  help: `${aboutTeam}
Lists the requests that wait for a yes: of the user, or of a member of the group that a rule names (approver). Users and
approvers answer on the page /approvals of the gateway; these commands are for operators.

Examples:
  fairlead team approvals
  fairlead team approvals list --json`,

  define: defineTenant,

  async run(context) {
    const { out, globals } = context;
    const questions = await withTeam(context, ({ admin }) => admin.questions());
    if (globals.json) return out.json({ approvals: questions.map(toDocument) });
    if (questions.length === 0) return out.say(safe`no request waits`);
    out.print(
      table([
        ["id", "user", "program", "what", "who answers", "until"].map((text) => toSafeLine(text)),
        ...questions.map(({ stored, question }) => [
          toSafeLine(stored.id),
          toVisibleLine(stored.owner.principal),
          toVisibleLine(question.client),
          toVisibleLine(`${stored.server}.${stored.tool}`),
          toVisibleLine(question.approver === undefined ? "the user" : `group ${question.approver}`),
          toSafeLine(timeText(new Date(stored.until).toISOString(), false)),
        ]),
      ]),
    );
  },
};

const show: Verb = {
  help: `${aboutTeam}
Shows one request with its arguments and the rule that asks.

Examples:
  fairlead team approvals show ID`,

  define(command) {
    defineTenant(command.argument("<id>", "the id, from fairlead team approvals"));
  },

  async run(context) {
    const { out, globals, operands } = context;
    const found = await withTeam(context, ({ admin }) => admin.question(operands[0] ?? ""));
    if (globals.json) return out.json(toDocument(found));
    const { stored, question } = found;
    const rows: readonly (readonly [string, SafeText])[] = [
      ["user", toVisibleLine(stored.owner.principal)],
      ["program", toVisibleLine(question.client)],
      ["what", toVisibleLine(`${stored.server}.${stored.tool}`)],
      ["because", toVisibleLine(question.reason)],
      ["arguments", toVisibleLine(JSON.stringify(question.args))],
      [
        "state",
        toVisibleLine(stored.answeredBy === undefined ? stored.state : `${stored.state} by ${stored.answeredBy}`),
      ],
    ];
    out.print(table(rows.map(([name, text]) => [toSafeLine(name), text])));
  },
};

function toDocument({ stored, question }: WaitingRequest): object {
  const { id, owner, server, tool, until, state, answeredBy } = stored;
  return {
    id,
    user: owner.principal,
    client: question.client,
    server,
    tool,
    args: question.args,
    reason: question.reason,
    approver: question.approver,
    until: new Date(until).toISOString(),
    state,
    answeredBy,
  };
}

function answering(answer: "once" | "no"): Verb {
  const word = answer === "no" ? "deny" : "allow";
  const done = answer === "no" ? "denied" : "allowed";
  return {
    help: `${aboutTeam}
${answer === "no" ? "Refuses" : "Lets"} a waiting request${answer === "no" ? "" : " run once, when its program sends it again"}. The first answer counts.

Examples:
  fairlead team approvals ${word} ID`,

    define(command) {
      command.argument("<id>", "the id, from fairlead team approvals");
      if (answer === "no") command.option("--because <reason>", "the reason, which the model reads");
      defineTenant(command);
    },

    async run(context) {
      const { out, globals, command, operands } = context;
      const [id = ""] = operands;
      const { because } = command.opts<{ readonly because?: string }>();
      await withTeam(context, ({ admin }) => admin.answer(id, { answer, because }));
      if (globals.json) return out.json({ id, answer });
      out.print(joinSafe([toSafeLine(done), toVisibleLine(id)], safe`: `));
    },
  };
}

export const verbs: Readonly<Record<"list" | "show" | "allow" | "deny", Verb>> = {
  list,
  show,
  allow: answering("once"),
  deny: answering("no"),
};
