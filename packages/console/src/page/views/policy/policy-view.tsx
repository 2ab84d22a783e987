/** The rules, strongest first, with the places where they are written; why a request is decided as it is; and new rules. */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { ApprovalRow, RuleRow } from "../../../protocol/policy.ts";
import { useApp, useCommand, useRoute } from "../../app.ts";
import { Button } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy.tsx";
import { SearchInput } from "../../components/field.tsx";
import { Empty, Failure, Loading, NextLine, Notice } from "../../components/notice.tsx";
import { Section, View } from "../../components/panel.tsx";
import { type Column, GroupRow, Row, Table } from "../../components/table.tsx";
import { Text } from "../../components/text.tsx";
import { counted } from "../../numbers.ts";
import { useOutdated } from "../servers/use-outdated.ts";
import { ExplainBox } from "./explain-box.tsx";
import { NewRuleDialog } from "./new-rule.tsx";
import { RuleLine, ruleColumns, ruleSubject } from "./rule-line.tsx";

const tierTitles: Readonly<Record<RuleRow["tier"], string>> = {
  administrator: "Administrator",
  user: "User",
  workspace: "Workspace (can only restrict)",
  conversation: "Conversation",
  default: "Defaults",
};

export function PolicyView(): VNode {
  const { router } = useApp();
  const { query } = useRoute();
  const list = useCommand("policy/list", {});
  useOutdated(undefined, list.reload);
  const [isAdding, setAdding] = useState(false);
  const words = (query["search"] ?? "").toLowerCase();
  const { value } = list;
  const rules = (value?.rules ?? []).filter((rule) => wordsOf(rule).includes(words));
  return (
    <View
      title="Policy"
      tools={
        <>
          <Button icon="policy" onPress={() => setAdding(true)}>
            New rule
          </Button>
          <CopyCommand command="fairlead policy list" />
        </>
      }
    >
      <Section title="Explain a decision">
        <ExplainBox />
      </Section>
      {list.error !== undefined && <Failure error={list.error} onRetry={list.reload} />}
      {value === undefined && list.error === undefined && <Loading what="the rules" />}
      {value?.problems.map(({ message, next }) => (
        <Notice key={message} kind="bad">
          <div>
            <Text of={message} lines />
            {next !== undefined && <NextLine next={next} />}
          </div>
        </Notice>
      ))}
      {value !== undefined && (
        <Section
          title="Rules, strongest first"
          tools={
            <SearchInput
              label="Filter rules"
              value={query["search"] ?? ""}
              onChange={(search) => router.setQuery({ search: search || undefined })}
            />
          }
        >
          {rules.length === 0 ? (
            <Empty title="No rule fits the filter" />
          ) : (
            <Table label="Rules, strongest first" columns={ruleColumns} class="policy-table">
              {tiersOf(rules).map(([tier, ofTier]) => [
                <GroupRow key={tier}>{tierTitles[tier]}</GroupRow>,
                ...ofTier.map((rule) => <RuleLine key={rule.id} rule={rule} />),
              ])}
            </Table>
          )}
        </Section>
      )}
      {value !== undefined && <Approvals approvals={value.approvals} />}
      {value !== undefined && value.files.length > 0 && (
        <Section title="Files">
          <ul class="plain-list">
            {value.files.map(({ file, tier, state }) => (
              <li key={file}>
                <Text of={file} exact class="mono" />{" "}
                <span class="muted">
                  {tierTitles[tier]}, <Text of={state} />
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {isAdding && <NewRuleDialog request={explainedRequest(query)} onClose={() => setAdding(false)} />}
    </View>
  );
}

/** A name with `*` or `?` would be a pattern in a rule, so it is left to the person. */
function explainedRequest({ server, tool, client }: Readonly<Record<string, string>>) {
  return [server, tool, client].some((name) => name !== undefined && /[*?]/.test(name)) ? {} : { server, tool, client };
}

function wordsOf(rule: RuleRow): string {
  return [ruleSubject(rule), rule.client, rule.decision, rule.at, rule.text].join(" ").toLowerCase();
}

function tiersOf(rules: readonly RuleRow[]): readonly (readonly [tier: RuleRow["tier"], rules: readonly RuleRow[]])[] {
  const tiers = [...new Set(rules.map(({ tier }) => tier))];
  return tiers.map((tier) => [tier, rules.filter((rule) => rule.tier === tier)]);
}

const approvalColumns: readonly Column[] = [
  { id: "tool", title: "Tool", width: "34%", card: "head" },
  { id: "client", title: "For", width: "20%" },
  { id: "workspace", title: "In", card: "wide" },
  { id: "forget", title: "Forget", hasHiddenTitle: true, width: "90px", align: "end" },
];

function Approvals({ approvals }: { readonly approvals: readonly ApprovalRow[] }): VNode {
  return (
    <Section title="Saved approvals">
      {approvals.length === 0 ? (
        <p class="muted">None. The answer “always” to a question saves one.</p>
      ) : (
        <>
          <p class="muted">
            {counted(approvals.length, "approval")}: each holds until the tool's definition or the server's settings
            change.
          </p>
          <Table label="Saved approvals" columns={approvalColumns}>
            {approvals.map((approval) => (
              <ApprovalLine key={JSON.stringify(approval)} approval={approval} />
            ))}
          </Table>
        </>
      )}
    </Section>
  );
}

function ApprovalLine({ approval: { server, tool, client, workspace } }: { readonly approval: ApprovalRow }): VNode {
  const { api, announcer } = useApp();
  return (
    <Row
      cells={[
        <span key="tool" class="cut mono">
          <Text of={`${server}.${tool}`} exact />
        </span>,
        <span key="client" class="cut">
          {client === undefined ? "you and models" : <Text of={client} exact />}
        </span>,
        <span key="workspace" class="cut mono muted">
          <Text of={workspace ?? "every folder"} exact />
        </span>,
        <Button
          key="forget"
          kind="quiet"
          class="button-row"
          label={`Forget the approval of ${server}.${tool}`}
          onPress={async () => {
            await api.run("policy/forget", { server, tool, client });
            announcer.done(`Fairlead asks again about ${server}.${tool}`);
          }}
        >
          Forget
        </Button>,
      ]}
    />
  );
}
