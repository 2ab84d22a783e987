/** The values that a published server asks for. A secret is typed hidden; the page forgets it when it leaves the server. */

import type { VNode } from "preact";
import type { PublishedInput } from "../../../protocol/adding.ts";
import { Field, type FieldIds } from "../../components/field.tsx";
import { Text, visibleText } from "../../components/text.tsx";

/** What was typed, by the names of inputs. Several values of one input are lines. */
export type Typed = Readonly<Record<string, string>>;

export function InputFields(props: {
  readonly inputs: readonly PublishedInput[];
  readonly typed: Typed;
  readonly onChange: (typed: Typed) => void;
  /** Whether required values without an answer are marked. */
  readonly isChecked: boolean;
}): VNode {
  const { inputs, typed, onChange, isChecked } = props;
  return (
    <>
      {inputs.map((input) => (
        <Field
          key={input.name}
          label={<Text of={input.name} exact />}
          hint={<Hint input={input} />}
          isRequired={input.isRequired}
          error={isChecked && isMissing(input, typed) ? "a value is missing" : undefined}
        >
          {(ids) => (
            <Control
              ids={ids}
              input={input}
              value={typed[input.name] ?? ""}
              onChange={(value) => onChange({ ...typed, [input.name]: value })}
            />
          )}
        </Field>
      ))}
    </>
  );
}

export function isMissing({ name, isRequired, default: usual = "" }: PublishedInput, typed: Typed): boolean {
  return isRequired && usual === "" && (typed[name] ?? "").trim() === "";
}

/** The values to send. Lines are several values only where the server takes several. */
export function valuesOf(inputs: readonly PublishedInput[], typed: Typed): Readonly<Record<string, readonly string[]>> {
  const given = inputs.map(({ name, isRepeated, isSecret, kind }): [string, readonly string[]] => {
    const value = typed[name] ?? "";
    if (isSecret || kind === "choice") return [name, [value]];
    return [name, (isRepeated ? value.split("\n") : [value]).map((each) => each.trim())];
  });
  return Object.fromEntries(
    given
      .map(([name, values]) => [name, values.filter((value) => value !== "")] as const)
      .filter(([, values]) => values.length > 0),
  );
}

function Hint({ input }: { readonly input: PublishedInput }): VNode {
  const { description, kind, isSecret, isRepeated, default: usual, placeholder } = input;
  return (
    <span class="schema-hints">
      {description !== undefined && <Text of={description} lines most={600} />}
      {kind === "file" && <span>a path; ~ is your home folder</span>}
      {kind === "number" && <span>a number</span>}
      {isRepeated && !isSecret && <span>one value in each line</span>}
      {isSecret && <span>a secret: it goes to the secret store, and only its name into the settings</span>}
      {usual !== undefined && usual !== "" && (
        <span>
          if empty: <Text of={usual} exact class="mono" />
        </span>
      )}
      {placeholder !== undefined && (
        <span>
          such as <Text of={placeholder} exact class="mono" />
        </span>
      )}
    </span>
  );
}

interface ControlProps {
  readonly ids: FieldIds;
  readonly input: PublishedInput;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Control({ ids, input, value, onChange }: ControlProps): VNode {
  const { kind, isSecret, isRepeated, choices } = input;
  if (kind === "choice" || kind === "boolean")
    return (
      <select {...ids} class="select" value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">not set</option>
        {(kind === "boolean" ? ["true", "false"] : choices).map((choice) => (
          <option key={choice} value={choice}>
            {visibleText(choice, false, true)}
          </option>
        ))}
      </select>
    );
  const shared = { ...ids, value, autocomplete: "off", spellcheck: false };
  if (isRepeated && !isSecret)
    return <textarea {...shared} rows={2} onInput={({ currentTarget }) => onChange(currentTarget.value)} />;
  const onInput = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void =>
    onChange(currentTarget.value);
  // Browsers offer to store a password, unless it is a new one.
  if (isSecret) return <input {...shared} type="password" autocomplete="new-password" onInput={onInput} />;
  return <input {...shared} inputMode={kind === "number" ? "decimal" : undefined} onInput={onInput} />;
}
