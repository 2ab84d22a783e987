/** Lists, explains and writes the rules. */

import { hash } from "node:crypto";
import { HostError } from "@fairlead/core/errors";
import type { OpenedHost } from "@fairlead/core/host";
import {
  type DecisionOutcome,
  defaultRules,
  escapeName,
  forgetApprovalsNamed,
  namePattern,
  overruledBy,
  PolicyEngine,
  type PolicyRule,
  type RequestKind,
  type RuleToWrite,
  readToolApprovals,
  removeRules,
  ruleText,
  userRuleFile,
  usualPriority,
  writeRule,
} from "@fairlead/core/policy";
import type { NewRule, PolicyCommands, RuleRow } from "../../protocol/policy.ts";
import type { CallRow } from "../../protocol/rows.ts";
import {
  anObject,
  anyText,
  aSwitch,
  aText,
  type CommandHandler,
  type Handlers,
  oneOf,
  optional,
} from "./parameters.ts";
import { decisionLine, decisionWord, placeOf } from "./tools.ts";

/** Changed decisions that a preview lists. */
const mostChanges = 500;

const kinds = oneOf("tool", "resource", "prompt", "sampling", "skill", "host");

const newRule: CommandHandler<NewRule, unknown>["takes"] = {
  decision: oneOf("allow", "ask", "deny"),
  server: aText,
  tool: aText,
  isPattern: optional(aSwitch),
  kind: optional(kinds),
  client: optional(aText),
  argsPattern: optional(aText),
  readOnly: optional(aSwitch),
};

/** @param onChanged Called when rules or approvals have changed. */
export function policyCommands(host: OpenedHost, onChanged: () => void): Handlers<PolicyCommands> {
  const { servers } = host.gateway;

  async function rules(): Promise<readonly PolicyRule[]> {
    const policies = await host.policy();
    return policies.rules;
  }

  function toRow(rule: PolicyRule): RuleRow {
    const { tier, decision, priority, server, tool, kind, argsPattern, annotations, modes, interactive } = rule;
    const { client, user, group } = rule;
    const shown = {
      tier,
      decision: decisionWord(decision),
      priority,
      server: server?.text,
      tool: tool?.text,
      kind,
      client: client?.text,
      user: user?.text,
      group: group?.text,
      argsPattern: argsPattern?.text,
      annotations: annotations && Object.fromEntries(annotations),
      modes,
      interactive,
      text: ruleText(rule),
      at: placeOf(rule),
    };
    const isRemovable = tier === "user" && rule.origin.source === "policy_file" && rule.isDoubt !== true;
    return { id: hash("sha256", JSON.stringify(shown)).slice(0, 16), ...shown, isRemovable };
  }

  /** The listed tools that the rule is about, each with what is known of it. */
  function toolsOf({ server, tool, kind = "tool" }: RuleToWrite) {
    if (kind !== "tool") return [];
    const [isServer, isTool] = [namePattern(server).matches, namePattern(tool).matches];
    return servers.all().flatMap((each) => {
      const tools = isServer(each.name) ? (each.catalog?.catalog.tools ?? []) : [];
      return tools.flatMap(({ name, annotations }) =>
        isTool(name) ? [{ server: each.name, tool: name, annotations }] : [],
      );
    });
  }

  return {
    "policy/list": {
      takes: {},
      async run() {
        const { rules: written, problems, files } = await host.policy();
        const approvals = await readToolApprovals(host.configuration.locations.state);
        return {
          rules: [...written, ...Object.values(defaultRules)].sort(byStrength).map(toRow),
          approvals: approvals.map(({ server, tool, client, workspace, approvedAt }) => ({
            server,
            tool,
            client,
            workspace,
            approvedAt,
          })),
          files: files.map(({ file, tier, state }) => ({ file, tier, state })),
          problems: problems.map(({ message, next }) => ({ message, next })),
        };
      },
    },
    "policy/explain": {
      takes: {
        server: aText,
        tool: anyText,
        kind: optional(kinds),
        args: optional(anObject),
        who: optional(oneOf("model", "user", "client")),
        client: optional(aText),
      },
      async run({ server, tool, kind, args, who = "model", client }) {
        if (who === "client" && client === undefined)
          throw new HostError("usage", "the parameter client must name the client");
        const explained = await host.explain(server, tool, args, {
          kind,
          typed: who === "user",
          client: who === "client" ? client : undefined,
        });
        const { decision, matching, isChanged, trust, outdated } = explained;
        return {
          ...decisionLine(explained),
          otherwise: decision.over && toRow(decision.over),
          matching: matching.map(toRow),
          isChanged,
          trust: trust?.counts === false ? trust.reason : undefined,
          outdated,
        };
      },
    },
    "policy/preview": {
      takes: newRule,
      async run(wanted) {
        const rule = toRule(wanted);
        const written = await rules();
        const added = await compiled(rule, userRuleFile(host.configuration.locations));
        const before = new PolicyEngine({ rules: written });
        const after = new PolicyEngine({ rules: [...written.filter((other) => !isAboutSame(other, added)), added] });
        const concerned = toolsOf(rule);
        const changes = concerned.flatMap(({ server, tool, annotations }) => {
          const trustAnnotations = servers.get(server).definition?.extras.trustAnnotations ?? false;
          const facts = {
            server,
            tool,
            client: rule.client,
            annotations,
            trustAnnotations,
            mode: "default",
            interactive: true,
          } as const;
          const [was, is] = [before.check(facts).decision, after.check(facts).decision];
          return was === is ? [] : [{ server, tool, before: decisionWord(was), after: decisionWord(is) }];
        });
        return { changes: changes.slice(0, mostChanges), matching: concerned.length };
      },
    },
    "policy/add": {
      takes: newRule,
      async run(wanted) {
        const rule = toRule(wanted);
        // An invalid pattern would be in the file before anything reports it.
        await compiled(rule, "");
        const written = await writeRule(userRuleFile(host.configuration.locations), rule);
        onChanged();
        const requests = toolsOf(rule).map(({ server, tool }) => ({ server, tool, client: rule.client }));
        const overruled = await overruledBy(written, requests, host.configuration);
        const replaced = decisions.find((decision) => decision === written.replaced);
        return {
          at: `${written.file}:${written.line}`,
          replaced: replaced && decisionWord(replaced),
          overruled: overruled.map(({ server, tool, rule: stronger }) => ({ server, tool, rule: toRow(stronger) })),
        };
      },
    },
    "policy/remove": {
      takes: { id: aText },
      async run({ id }) {
        const found = (await rules()).map((rule) => ({ rule, row: toRow(rule) })).find(({ row }) => row.id === id);
        const { file, line } = found?.rule.origin ?? {};
        if (found === undefined || file === undefined || line === undefined)
          throw new HostError("changed", "the rule was not removed: it has changed, or is no longer there", {
            next: "fairlead policy list",
          });
        if (!found.row.isRemovable)
          throw new HostError(
            "usage",
            `${file} is not one of your policy files: remove its rules by editing that file`,
            {
              next: `edit ${file}`,
            },
          );
        await removeRules(file, (each) => line >= each.line && line <= each.lastLine);
        onChanged();
        return {};
      },
    },
    "policy/forget": {
      takes: { server: aText, tool: aText, client: optional(aText) },
      async run({ server, tool, client }) {
        const removed = await forgetApprovalsNamed(host.configuration.locations.state, server, tool, client);
        onChanged();
        return { removed };
      },
    },
  };
}

const decisions: readonly DecisionOutcome[] = ["allow", "ask_user", "deny"];
const tiers: readonly PolicyRule["tier"][] = ["administrator", "user", "workspace", "conversation", "default"];

function byStrength(a: PolicyRule, b: PolicyRule): number {
  return (
    tiers.indexOf(a.tier) - tiers.indexOf(b.tier) ||
    b.priority - a.priority ||
    decisions.indexOf(b.decision) - decisions.indexOf(a.decision)
  );
}

/** The rule as it is written. An exact name must not match any other name. */
function toRule({
  decision,
  server,
  tool,
  isPattern = false,
  kind = "tool",
  client,
  argsPattern,
  readOnly,
}: NewRule): RuleToWrite {
  if (readOnly === true && kind !== "tool") throw new HostError("usage", "the parameter readOnly is only for tools");
  const named = (name: string): string => (isPattern || name === "*" ? name : escapeName(name));
  return {
    server: named(server),
    tool: named(tool),
    kind: kind === "tool" ? undefined : kind,
    client,
    argsPattern,
    readOnly,
    decision: decision === "ask" ? "ask_user" : decision,
  };
}

/**
 * The rule as the host would read it from the file.
 *
 * @throws HostError `usage` if its argument pattern is invalid
 */
async function compiled(rule: RuleToWrite, file: string): Promise<PolicyRule> {
  const { server, tool, kind, client, argsPattern, readOnly = false, decision } = rule;
  const { compileArgsPattern } = await import("@fairlead/core/policy/rules/args-pattern");
  const pattern = argsPattern === undefined ? undefined : compileArgsPattern(argsPattern);
  if (typeof pattern === "string") throw new HostError("usage", `the parameter argsPattern cannot be used: ${pattern}`);
  return {
    tier: "user",
    decision,
    priority: usualPriority(rule),
    server: namePattern(server),
    tool: namePattern(tool),
    kind: kind ?? "tool",
    client: client === undefined ? undefined : namePattern(client),
    argsPattern: pattern,
    annotations: readOnly ? new Map([["readOnlyHint", true]]) : undefined,
    origin: { source: "policy_file", file },
  };
}

/** Whether writing `rule` would replace the other one. */
function isAboutSame(other: PolicyRule, rule: PolicyRule): boolean {
  return (
    other.origin.file === rule.origin.file &&
    other.server?.text === rule.server?.text &&
    other.tool?.text === rule.tool?.text &&
    kindOf(other) === kindOf(rule) &&
    other.client?.text === rule.client?.text &&
    other.user?.text === rule.user?.text &&
    other.group?.text === rule.group?.text &&
    other.argsPattern?.text === rule.argsPattern?.text &&
    (other.annotations === undefined) === (rule.annotations === undefined)
  );
}

function kindOf({ kind = "tool" }: PolicyRule): RequestKind & CallRow["kind"] {
  return kind;
}
