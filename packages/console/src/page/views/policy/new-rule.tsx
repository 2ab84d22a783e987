/** Writes a rule into the user's policy file. The person first sees which decisions it would change. */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { NewRule } from "../../../protocol/policy.ts";
import { useApp, useCommand } from "../../app.ts";
import { Button } from "../../components/button.tsx";
import { AllowButton, Decision } from "../../components/decision.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Field } from "../../components/field.tsx";
import { Failure, Loading } from "../../components/notice.tsx";
import { Text } from "../../components/text.tsx";
import { useLive } from "../../live.ts";
import { counted } from "../../numbers.ts";
import { DecisionMark } from "../tools/decision-mark.tsx";

interface NewRuleProps {
  /** The request that the page explains: the rule begins with it. */
  readonly request: { readonly server?: string; readonly tool?: string; readonly client?: string };
  readonly onClose: () => void;
}

export function NewRuleDialog({ request, onClose }: NewRuleProps): VNode {
  const { store, api, announcer } = useApp();
  const servers = useLive(store.servers.ids);
  const [rule, setRule] = useState<NewRule>(() => {
    const { server = servers[0] ?? "", tool = "*", client } = request;
    return { decision: "ask", server, tool, client, isPattern: true };
  });
  const set = (change: Partial<NewRule>): void => setRule({ ...rule, ...change });
  const preview = useCommand("policy/preview", rule.server === "" || rule.tool === "" ? undefined : rule);
  const { value, error } = preview;
  return (
    <Dialog title="New rule" onClose={onClose}>
      <div class="new-rule">
        <Field label="Decision">
          {(ids) => (
            <select
              {...ids}
              class="select"
              value={rule.decision}
              onChange={({ currentTarget: { value: chosen } }) => {
                const decision = decisions.find((each) => each === chosen);
                if (decision !== undefined) set({ decision });
              }}
            >
              {decisions.map((decision) => (
                <option key={decision} value={decision}>
                  {decision === "ask" ? "ask me" : decision}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Server">
          {(ids) => (
            <input {...ids} value={rule.server} onInput={({ currentTarget }) => set({ server: currentTarget.value })} />
          )}
        </Field>
        <Field label="Tool" hint="* and ? stand for any text and any character">
          {(ids) => (
            <input {...ids} value={rule.tool} onInput={({ currentTarget }) => set({ tool: currentTarget.value })} />
          )}
        </Field>
        <Field label="Client" hint="empty: you, models and all clients">
          {(ids) => (
            <input
              {...ids}
              value={rule.client ?? ""}
              onInput={({ currentTarget }) => set({ client: currentTarget.value || undefined })}
            />
          )}
        </Field>
        <label class="check-line">
          <input
            type="checkbox"
            checked={rule.readOnly === true}
            onChange={({ currentTarget }) => set({ readOnly: currentTarget.checked || undefined })}
          />
          only tools whose servers claim that they change nothing
        </label>
        {error !== undefined && <Failure error={error} />}
        {value === undefined && error === undefined && preview.isLoading && <Loading what="what would change" />}
        {value !== undefined && (
          <div class="rule-preview" aria-live="polite">
            <p>
              The rule fits {counted(value.matching, "listed tool")} and changes{" "}
              {value.changes.length === 0 ? "no decision" : counted(value.changes.length, "decision")} for models
              {value.changes.length === 0 ? "." : ":"}
            </p>
            <ul class="plain-list">
              {value.changes.slice(0, mostShown).map(({ server, tool, before, after }) => (
                <li key={`${server}.${tool}`} class="rule-change">
                  <Text of={`${server}.${tool}`} exact class="mono" />
                  <DecisionMark decision={before} />
                  <span aria-hidden="true">→</span>
                  <DecisionMark decision={after} />
                </li>
              ))}
            </ul>
            {value.changes.length > mostShown && <p class="muted">and {value.changes.length - mostShown} more</p>}
          </div>
        )}
      </div>
      <div class="dialog-actions">
        <Button onPress={onClose}>Cancel</Button>
        <Decision subject={JSON.stringify(rule)} label="Write the rule">
          <AllowButton
            kind="primary"
            onPress={async () => {
              const { at, overruled } = await api.run("policy/add", rule);
              const stronger =
                overruled.length === 0 ? "" : ` Stronger rules still decide about ${overruled.length} of its tools.`;
              announcer.done(`Wrote the rule into ${at}.${stronger}`);
              onClose();
            }}
          >
            Write the rule
          </AllowButton>
        </Decision>
      </div>
    </Dialog>
  );
}

const decisions = ["ask", "deny", "allow"] as const;
const mostShown = 12;
