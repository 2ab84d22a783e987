/** What the rules say about each tool of a server, before the arguments of a call are known. */

import { toShellWord } from "@fairlead/core/text/shell-word";
import type { VNode } from "preact";
import type { Result } from "../../../protocol/commands.ts";
import type { RuleRow } from "../../../protocol/policy.ts";
import { useCommand } from "../../app.ts";
import { CopyCommand } from "../../components/copy.tsx";
import { Link } from "../../components/link.tsx";
import { Empty, Failure, Loading } from "../../components/notice.tsx";
import { Section } from "../../components/panel.tsx";
import { type Column, Row, Table } from "../../components/table.tsx";
import { Text } from "../../components/text.tsx";
import { shortNumber } from "../../numbers.ts";
import { toAddress } from "../../router.ts";
import { RuleLine, ruleColumns } from "../policy/rule-line.tsx";
import { DecisionMark } from "../tools/decision-mark.tsx";
import { useOutdated } from "./use-outdated.ts";

const columns: readonly Column[] = [
  { id: "decision", title: "Decision", width: "96px", card: "head" },
  { id: "tool", title: "Tool", width: "30%", card: "head" },
  { id: "description", title: "Description", card: "wide" },
  { id: "tokens", title: "Tokens", width: "64px", align: "end" },
];

export function ServerPolicy({
  name,
  detail,
}: {
  readonly name: string;
  readonly detail: Result<"servers/show"> | undefined;
}): VNode {
  const list = useCommand("tools/list", {});
  useOutdated(name, list.reload);
  const rules = useCommand("policy/list", {});
  useOutdated(name, rules.reload);
  if (list.error !== undefined) return <Failure error={list.error} onRetry={list.reload} />;
  if (list.value === undefined) return <Loading what="the decisions" />;
  const tools = list.value.tools.filter(({ server }) => server === name);
  return (
    <div class="server-policy">
      <p class="muted">
        What the rules say about a model's call of each tool. Arguments and the client can change a decision:{" "}
        <CopyCommand command={`fairlead policy explain ${toShellWord(name)}.TOOL`} />
      </p>
      {tools.length === 0 && (
        <Empty title={detail === undefined ? "No tool is known" : "No tool of this server is known"}>
          <p>Start the server to read its lists.</p>
        </Empty>
      )}
      {tools.length > 0 && (
        <Table label="Decisions about the tools of the server" columns={columns}>
          {tools.map(({ tool, decision, description, tokens, hidden }) => (
            <Row
              key={tool}
              cells={[
                <DecisionMark key="decision" decision={decision} />,
                <Link key="tool" to={toAddress(["tools", name, tool])} class="row-link cut">
                  <Text of={tool} exact />
                </Link>,
                <span key="description" class="cut muted">
                  <Text of={hidden === undefined ? description : `not offered: ${hidden}`} />
                </span>,
                shortNumber(tokens),
              ]}
            />
          ))}
        </Table>
      )}
      {rules.value !== undefined && <NamedRules name={name} rules={rules.value.rules} />}
    </div>
  );
}

/** Rules are removed in the view of the policy. */
const namedColumns: readonly Column[] = ruleColumns.filter(({ id }) => id !== "remove");

/** The rules that name this server. Rules about all servers are in the view of the policy. */
function NamedRules({ name, rules }: { readonly name: string; readonly rules: readonly RuleRow[] }): VNode {
  const named = rules.filter(({ server }) => server !== undefined && isMatch(server, name));
  return (
    <Section
      title={
        <>
          Rules that name this server<span class="count">{named.length}</span>
        </>
      }
      tools={<Link to={toAddress(["policy"])}>All {rules.length} rules</Link>}
    >
      {named.length === 0 && <p class="muted">None. The rules about all servers decide.</p>}
      {named.length > 0 && (
        <Table label="Rules that name this server, the strongest first" columns={namedColumns}>
          {named.map((rule) => (
            <RuleLine key={rule.id} rule={rule} isStatic />
          ))}
        </Table>
      )}
    </Section>
  );
}

/** Whether a name fits a pattern of a rule, in which `*` and `?` stand for any characters. */
function isMatch(pattern: string, name: string): boolean {
  const escaped = pattern.replaceAll(/[.+^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`, "su").test(name);
}
