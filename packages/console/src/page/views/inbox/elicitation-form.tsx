/** The form of a server's question. The values are read as those of a tool's form, and are sent by the button alone. */

import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { type Draft, draftValue, emptyDraft } from "../../../form/draft.ts";
import { nestedInputOf } from "../../../form/nested-input.ts";
import type { Answer } from "../../../protocol/rows.ts";
import { AllowButton, Decision, DecisionButton } from "../../components/decision.tsx";
import { SchemaForm } from "../../components/schema-form.tsx";

type Content = Extract<Answer, { readonly content: unknown }>["content"];

export interface ElicitationFormProps {
  /** The question's id: another question has its own values. */
  readonly id: string;
  readonly schema: Content;
  readonly onSend: (content: Content) => Promise<void>;
  readonly onRefuse: (action: "decline" | "cancel") => Promise<void>;
}

export function ElicitationForm({ id, schema, onSend, onRefuse }: ElicitationFormProps): VNode {
  const input = useMemo(() => nestedInputOf(schema), [schema]);
  const [draft, setDraft] = useState<Draft>(() => emptyDraft(input));
  const [isChecked, setChecked] = useState(false);
  const { value, problems } = draftValue(input, draft);
  const count = problems.size;
  return (
    <form class="elicitation" onSubmit={(event) => event.preventDefault()}>
      <SchemaForm input={input} draft={draft} onChange={setDraft} problems={isChecked ? problems : new Map()} />
      <Decision subject={id} label="Your answer">
        <DecisionButton onPress={() => onRefuse("decline")}>Decline</DecisionButton>
        <DecisionButton onPress={() => onRefuse("cancel")}>Cancel</DecisionButton>
        <AllowButton
          onPress={() => {
            setChecked(true);
            // The schema of a question is that of an object.
            return count > 0 ? undefined : onSend((value ?? {}) as Content);
          }}
        >
          Send
        </AllowButton>
      </Decision>
      {isChecked && count > 0 && (
        <p class="field-error" role="alert">
          Not sent: {count === 1 ? "one value is" : `${count} values are`} missing or wrong
        </p>
      )}
    </form>
  );
}
