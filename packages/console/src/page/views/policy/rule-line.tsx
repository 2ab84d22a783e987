/** One rule as a row, and the question whether to remove it. */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { RuleRow } from "../../../protocol/policy.ts";
import { useApp } from "../../app.ts";
import { Button } from "../../components/button.tsx";
import { AllowButton, Decision } from "../../components/decision.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { type Column, Row } from "../../components/table.tsx";
import { Text, visibleText, withoutFolders } from "../../components/text.tsx";
import { RuleMark } from "../tools/decision-mark.tsx";

export const ruleColumns: readonly Column[] = [
  { id: "decision", title: "Decision", width: "110px", card: "head" },
  { id: "subject", title: "Requests", width: "34%", card: "head" },
  { id: "conditions", title: "Only if", card: "wide" },
  { id: "at", title: "Written in", width: "26%", card: "wide" },
  { id: "remove", title: "Remove", hasHiddenTitle: true, width: "90px", align: "end" },
];

/** The requests that a rule is about, as in `policy allow`. */
export function ruleSubject({ server = "*", tool = "*", kind }: RuleRow): string {
  return `${kind === undefined || kind === "tool" ? "" : `${kind} `}${server}.${tool}`;
}

function conditionsOf({
  client,
  user,
  group,
  argsPattern,
  annotations,
  modes,
  interactive,
}: RuleRow): readonly string[] {
  return [
    client === undefined ? [] : `the client is ${client}`,
    user === undefined ? [] : `the user is ${user}`,
    group === undefined ? [] : `the user is in the group ${group}`,
    argsPattern === undefined ? [] : `the arguments match ${argsPattern}`,
    annotations === undefined ? [] : `the annotations are ${JSON.stringify(annotations)}`,
    modes === undefined ? [] : `the mode is ${modes.join(" or ")}`,
    interactive === undefined ? [] : interactive ? "a person can be asked" : "no person can be asked",
  ].flat();
}

export function RuleLine({ rule, isStatic = false }: { readonly rule: RuleRow; readonly isStatic?: boolean }): VNode {
  const [isRemoving, setRemoving] = useState(false);
  const conditions = conditionsOf(rule);
  return (
    <Row
      rowKey={`rule ${rule.id}`}
      cells={[
        <RuleMark key="decision" decision={rule.decision} />,
        <span key="subject" class="cut mono">
          <Text of={ruleSubject(rule)} exact />
        </span>,
        <span key="conditions" class="cut muted">
          <Text of={conditions.join(", and ")} exact />
        </span>,
        rule.at === undefined ? (
          <span key="at" class="muted">
            built in
          </span>
        ) : (
          <span key="at" class="cut mono muted" title={visibleText(rule.at, false, true)}>
            <Text of={withoutFolders(rule.at)} exact />
          </span>
        ),
        rule.isRemovable && !isStatic ? (
          <span key="remove">
            <Button
              kind="quiet"
              class="button-row"
              label={`Remove the rule about ${ruleSubject(rule)}`}
              focusKey={`remove ${rule.id}`}
              onPress={() => setRemoving(true)}
            >
              Remove
            </Button>
            {isRemoving && <RemoveDialog rule={rule} onClose={() => setRemoving(false)} />}
          </span>
        ) : null,
      ]}
    />
  );
}

function RemoveDialog({ rule, onClose }: { readonly rule: RuleRow; readonly onClose: () => void }): VNode {
  const { api, announcer } = useApp();
  return (
    <Dialog title="Remove this rule?" onClose={onClose}>
      <p>
        <Text of={rule.text} exact />
      </p>
      <div class="dialog-actions">
        <Button onPress={onClose}>Keep it</Button>
        {/* Without the rule, others decide, which may allow more. */}
        <Decision subject={rule.id} label="Remove the rule">
          <AllowButton
            kind="danger"
            onPress={async () => {
              await api.run("policy/remove", { id: rule.id });
              announcer.done(`Removed the rule about ${ruleSubject(rule)}`);
              onClose();
            }}
          >
            Remove it
          </AllowButton>
        </Decision>
      </div>
    </Dialog>
  );
}
