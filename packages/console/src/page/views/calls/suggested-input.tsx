/** A text input with values that the server suggests for it. */

import type { VNode } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import type { Params } from "../../../protocol/commands.ts";
import { useCommand } from "../../app.ts";
import { Field } from "../../components/field.tsx";
import { Text, visibleText } from "../../components/text.tsx";

export interface SuggestedInputProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly isRequired?: boolean;
  readonly error?: string | undefined;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly suggest: Omit<Params<"complete">, "value">;
}

/** Milliseconds after the last key before the server is asked. */
const pause = 300;

export function SuggestedInput(props: SuggestedInputProps): VNode {
  const { label, hint, isRequired = false, error, value, onChange, suggest } = props;
  const list = useId();
  const [isFocused, setFocused] = useState(false);
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pause);
    return () => clearTimeout(timer);
  }, [value]);
  const { value: suggested } = useCommand("complete", isFocused ? { ...suggest, value: settled } : undefined);
  return (
    <Field
      label={<Text of={label} exact />}
      hint={hint === undefined ? undefined : <Text of={hint} lines most={400} />}
      error={error}
      isRequired={isRequired}
    >
      {(ids) => (
        <>
          <input
            {...ids}
            list={list}
            value={value}
            autocomplete="off"
            spellcheck={false}
            onFocus={() => setFocused(true)}
            onInput={({ currentTarget }) => onChange(currentTarget.value)}
          />
          <datalist id={list}>
            {suggested?.values.map((each) => (
              <option key={each} value={each} label={visibleText(each, false, true)} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
