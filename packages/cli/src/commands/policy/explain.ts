/** `fairlead policy explain`: shows the decision for a tool, the rule that decides, and the weaker rules. */

import { HostError } from "@fairlead/core/errors";
import type { Explanation } from "@fairlead/core/host/types";
import { everyResource } from "@fairlead/core/policy/rules/name-pattern";
import type { ApprovalMode, CheckRequest } from "@fairlead/core/policy/rules/rule";
import { type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { parseObject } from "@fairlead/wire/json";
import { Option } from "commander";
import { table } from "../../output/output.ts";
import { decisionWord, reasonText, ruleDocument, subjectText } from "../../output/policy/rule-lines.ts";
import { configurationOf, warnOfPolicyProblems } from "../../shell/configuration.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { defineSubject, readSubject, type Subject, subjectName } from "../../targets/rule-subject.ts";
import { useHost } from "../../targets/with-host.ts";

interface Options {
  readonly args?: string;
  readonly mode: ApprovalMode;
  readonly headless?: boolean;
}

export const verb: Verb = {
  help: `
Shows the decision for a call by the model. A call that you type (fairlead call) is stopped only by a deny rule,
by an ask rule in your or the administrator's files, or by a changed definition.
Uses the catalog cache and connects to no server. The tool need not exist.

Examples:
  fairlead policy explain demo.greet
  fairlead policy explain demo.greet --headless
  fairlead policy explain demo.greet --mode plan --json
  fairlead policy explain demo.greet --args '{"name": "Ada", "loud": true}'
  fairlead policy explain --kind resource demo.demo://about
  fairlead policy explain --client claude-code demo.greet`,

  define(command) {
    defineSubject(command);
    command
      .option(
        "--args <json>",
        "show the decision for a call with these arguments; without --args, rules about arguments do not apply",
      )
      .addOption(
        new Option("--mode <mode>", "show the decision for this approval mode")
          .choices(["default", "plan", "yolo"])
          .default("default"),
      )
      .option("--headless", "show the decision for a run without a terminal to ask on");
  },

  async run(context) {
    const { mode, headless = false, ...options } = context.command.opts<Options>();
    const args = readArgs(options.args);
    const configuration = await configurationOf(context);
    const interactive = !headless;
    await useHost(
      configuration,
      context,
      async (host) => {
        await warnOfPolicyProblems(host, context);
        const subject = await readSubject(host, configuration, context);
        refuseWild(subject, context);
        const { server, kind, client } = subject;
        const tool = kind === "sampling" ? "" : subject.tool;
        const explained = await host.explain(server, tool, args, { kind, client });
        report({ ...explained, subject, mode, interactive, configuration }, context);
      },
      { approvalMode: mode, interactive },
    );
  },
};

function readArgs(text: string | undefined): CheckRequest["args"] {
  if (text === undefined) return undefined;
  const value = parseObject(text);
  if (value === undefined) throw new HostError("usage", "--args must be a JSON object");
  return value;
}

/**
 * Refuses a pattern. A name with `*` or `?` counts as a pattern unless a known server or tool has exactly this name.
 */
function refuseWild({ server, tool, kind, found }: Subject, { operands: [word] }: Context): void {
  if (kind === "sampling") return;
  if (kind !== "tool" && (tool === everyResource || tool === "*"))
    throw new HostError("usage", `no ${kind} is named: policy explain takes one ${kind}`, {
      next: `fairlead ${kind}s ${toShellWord(server)}`,
    });
  const unknown = `${found === "nothing" ? server : ""}${found === "tool" ? "" : tool}`;
  if (word === undefined || !/[*?]/.test(unknown)) return;
  throw new HostError("usage", `"${word}" is a pattern: policy explain takes one tool`, {
    next: "fairlead policy list",
  });
}

interface Report extends Explanation {
  readonly subject: Subject;
  readonly mode: ApprovalMode;
  readonly interactive: boolean;
  readonly configuration: Configuration;
}

function report(explanation: Report, { out, globals }: Context): void {
  const { subject, matching, mode, interactive, isChanged, trust, outdated, configuration } = explanation;
  const { decision, rule, over } = explanation.decision;
  const others = matching.filter((other) => other !== rule && other !== over);
  if (globals.json) {
    const { found, ...named } = subject;
    out.json({
      ...named,
      known: found,
      mode,
      interactive,
      changed: isChanged,
      decision,
      rule: ruleDocument(rule),
      over: over && ruleDocument(over),
      matched: others.map(ruleDocument),
      trustEffect: trust,
      outdated,
      folder: folderDocument(configuration),
    });
    return;
  }
  const rows: SafeText[][] = [[safe`  because`, reasonText(rule)]];
  if (rule.origin.source === "policy_file") rows.push([safe`  rule`, subjectText(rule)]);
  if (over) rows.push([safe`  otherwise`, reasonText(over)]);
  for (const [at, other] of others.entries()) rows.push([at === 0 ? safe`  weaker` : safe``, reasonText(other)]);
  if (configuration.trust.source === "ide") rows.push([safe`  folder`, folderText(configuration)]);
  if (trust?.counts === false) {
    rows.push([safe`  trust`, safe`"trust": true has no effect: ${toVisibleLine(trust.reason)}`]);
    if (trust.next !== undefined) rows.push([safe``, out.typed(safe`next: ${toVisibleLine(trust.next)}`)]);
  }
  if (isChanged && rule.origin.name !== "changed" && rule.origin.name !== "unsaved")
    rows.push([safe`  changed`, safe`the tool's definition differs from the accepted one`]);
  if (outdated !== undefined)
    rows.push([
      safe`  unless`,
      safe`the definition has changed since the cached catalog was saved: ${toVisibleLine(outdated)}`,
    ]);
  const note = catalogNote(subject);
  if (note) rows.push([safe`  note`, note]);
  out.show(
    safe`${out.style.bold(toVisibleLine(subjectName(subject)))}: ${decisionWord(decision, out.style)}\n${table(rows)}`,
  );
}

function folderText({ locations, trust: { trusted, detail } }: Configuration): SafeText {
  return safe`${toVisibleLine(locations.root)} is ${trusted ? safe`trusted` : safe`not trusted`}: ${toVisibleLine(detail)}`;
}

function folderDocument({ locations, trust: { trusted, source, detail } }: Configuration): object {
  return { root: locations.root, trusted, source, detail };
}

function catalogNote({ server, tool, kind, found }: Subject): SafeText | undefined {
  if (kind !== "tool" && found === "entry") return undefined;
  switch (found) {
    case "tool":
      return undefined;
    case "server":
      return safe`"${toVisibleLine(server)}" has no tool "${toVisibleLine(tool)}" in its cached catalog`;
    case "entry":
      return safe`"${toVisibleLine(server)}" has no cached catalog yet, so the tool's annotations are unknown; to load them: fairlead tools`;
    case "nothing":
      return safe`no server "${toVisibleLine(server)}" is configured here`;
  }
}
