/**
 * The form of a server's question. The protocol allows a flat schema only: texts, numbers, booleans and choices. The
 * server's own checks come after the host's; this form says what is missing before anything is sent.
 */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Answer } from "../../../protocol/rows.ts";
import { Button } from "../../components/button.tsx";
import { AllowButton, Decision } from "../../components/decision.tsx";
import { Field, type FieldIds } from "../../components/field.tsx";
import { Text } from "../../components/text.tsx";

type JsonObject = Extract<Answer, { readonly action: "accept"; readonly content: unknown }>["content"];

interface Choice {
  readonly value: string;
  readonly title: string;
}

/** A member of the schema. */
interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly kind: "text" | "number" | "integer" | "boolean" | "choice" | "choices";
  readonly inputType: (typeof inputTypes)[keyof typeof inputTypes];
  readonly choices: readonly Choice[];
  readonly isRequired: boolean;
  readonly initial: FieldValue;
  readonly limits: {
    readonly minimum?: number;
    readonly maximum?: number;
    readonly minLength?: number;
    readonly maxLength?: number;
  };
}

type FieldValue = string | boolean | readonly string[];

export interface ElicitationFormProps {
  /** The question's id: another question has its own values. */
  readonly id: string;
  readonly schema: JsonObject;
  readonly onSend: (content: JsonObject) => Promise<void>;
  readonly onRefuse: (action: "decline" | "cancel") => Promise<void>;
}

export function ElicitationForm({ id, schema, onSend, onRefuse }: ElicitationFormProps): VNode {
  const fields = fieldsOf(schema);
  const [values, setValues] = useState<Readonly<Record<string, FieldValue>>>({});
  const [isChecked, setChecked] = useState(false);
  const current = (field: FormField): FieldValue => values[field.name] ?? field.initial;
  const errors = new Map(
    fields.flatMap((field) => {
      const error = errorIn(field, current(field));
      return error === undefined ? [] : [[field.name, error] as const];
    }),
  );
  return (
    <form class="elicitation" onSubmit={(event) => event.preventDefault()}>
      {fields.map((field) => (
        <Field
          key={field.name}
          label={<Text of={field.title} />}
          hint={field.description === undefined ? undefined : <Text of={field.description} lines />}
          error={isChecked ? errors.get(field.name) : undefined}
          isRequired={field.isRequired}
        >
          {(ids) => (
            <Input
              field={field}
              ids={ids}
              value={current(field)}
              onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
            />
          )}
        </Field>
      ))}
      <Decision subject={id} label="Your answer">
        <Button onPress={() => onRefuse("decline")}>Decline</Button>
        <Button onPress={() => onRefuse("cancel")}>Cancel</Button>
        <AllowButton
          onPress={() => {
            setChecked(true);
            return errors.size > 0 ? undefined : onSend(contentOf(fields, current));
          }}
        >
          Send
        </AllowButton>
      </Decision>
      {isChecked && errors.size > 0 && (
        <p class="field-error" role="alert">
          Not sent: {errors.size === 1 ? "one value is" : `${errors.size} values are`} missing or wrong
        </p>
      )}
    </form>
  );
}

interface InputProps {
  readonly field: FormField;
  readonly ids: FieldIds;
  readonly value: FieldValue;
  readonly onChange: (value: FieldValue) => void;
}

function Input({ field, ids, value, onChange }: InputProps): VNode {
  switch (field.kind) {
    case "boolean":
      return (
        <select
          {...ids}
          class="select"
          value={value === true ? "yes" : value === false ? "no" : ""}
          onChange={({ currentTarget }) => onChange(currentTarget.value === "" ? "" : currentTarget.value === "yes")}
        >
          <option value="">(no answer)</option>
          <option value="yes">yes</option>
          <option value="no">no</option>
        </select>
      );
    case "choice":
      return (
        <select {...ids} class="select" value={String(value)} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">(no answer)</option>
          {field.choices.map(({ value: choice, title }) => (
            <option key={choice} value={choice}>
              {title}
            </option>
          ))}
        </select>
      );
    case "choices": {
      const chosen = typeof value === "object" ? value : [];
      return (
        <div class="elicitation-choices" role="group" aria-describedby={ids["aria-describedby"]} id={ids.id}>
          {field.choices.map(({ value: choice, title }) => (
            <label key={choice}>
              <input
                type="checkbox"
                checked={chosen.includes(choice)}
                onChange={({ currentTarget }) =>
                  onChange(currentTarget.checked ? [...chosen, choice] : chosen.filter((each) => each !== choice))
                }
              />
              <Text of={title} />
            </label>
          ))}
        </div>
      );
    }
    case "text":
    case "number":
    case "integer":
      return (
        <input
          {...ids}
          {...field.inputType}
          inputMode={field.kind === "text" ? undefined : "decimal"}
          value={String(value)}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      );
  }
}

function fieldsOf(schema: JsonObject): readonly FormField[] {
  const properties = asObject(schema["properties"]);
  const required = asList(schema["required"]);
  return Object.entries(properties).map(([name, member]) => toField(name, asObject(member), required.includes(name)));
}

function toField(name: string, member: JsonObject, isRequired: boolean): FormField {
  const type = member["type"];
  const items = asObject(member["items"]);
  const choices = choicesOf(type === "array" ? items : member);
  const kind =
    type === "array"
      ? "choices"
      : choices.length > 0
        ? "choice"
        : type === "boolean" || type === "number" || type === "integer"
          ? type
          : "text";
  return {
    name,
    title: textOf(member["title"]) ?? name,
    description: textOf(member["description"]),
    kind,
    inputType: inputTypeOf(member["format"]),
    choices,
    isRequired,
    initial: initialOf(kind, member["default"]),
    limits: Object.fromEntries(
      ["minimum", "maximum", "minLength", "maxLength"].flatMap((limit) =>
        typeof member[limit] === "number" ? [[limit, member[limit]]] : [],
      ),
    ),
  };
}

function initialOf(kind: FormField["kind"], given: unknown): FieldValue {
  if (kind === "choices") return asList(given).map(String);
  if (typeof given === "boolean" || typeof given === "string") return given;
  return typeof given === "number" ? String(given) : "";
}

const inputTypes = {
  email: { type: "email" },
  uri: { type: "url" },
  date: { type: "date" },
  text: { type: "text" },
} as const;

function inputTypeOf(format: unknown): FormField["inputType"] {
  return format === "email" || format === "uri" || format === "date" ? inputTypes[format] : inputTypes.text;
}

/** The values to choose from, in each form that the protocol's versions have: `enum`, with `enumNames`, and `oneOf`. */
function choicesOf(member: JsonObject): readonly Choice[] {
  const titled = [...asList(member["oneOf"]), ...asList(member["anyOf"])].map(asObject);
  if (titled.length > 0)
    return titled.map((each) => ({
      value: String(each["const"]),
      title: textOf(each["title"]) ?? String(each["const"]),
    }));
  const names = asList(member["enumNames"]);
  return asList(member["enum"]).map((value, index) => ({
    value: String(value),
    title: textOf(names[index]) ?? String(value),
  }));
}

function errorIn({ kind, isRequired, limits }: FormField, value: FieldValue): string | undefined {
  const isEmpty = value === "" || (Array.isArray(value) && value.length === 0);
  if (isEmpty) return isRequired ? "a value is required" : undefined;
  const { minimum, maximum, minLength, maxLength } = limits;
  if (kind === "number" || kind === "integer") {
    const number = Number(value);
    if (Number.isNaN(number)) return "not a number";
    if (kind === "integer" && !Number.isInteger(number)) return "not a whole number";
    if (minimum !== undefined && number < minimum) return `at least ${minimum}`;
    if (maximum !== undefined && number > maximum) return `at most ${maximum}`;
  }
  if (kind === "text" && typeof value === "string") {
    if (minLength !== undefined && value.length < minLength) return `at least ${minLength} characters`;
    if (maxLength !== undefined && value.length > maxLength) return `at most ${maxLength} characters`;
  }
  return undefined;
}

/** The values to send. A field without a value is left out. */
function contentOf(fields: readonly FormField[], current: (field: FormField) => FieldValue): JsonObject {
  const entries = fields.flatMap((field): [string, JsonObject[string]][] => {
    const value = current(field);
    if (value === "") return [];
    if (field.kind === "number" || field.kind === "integer") return [[field.name, Number(value)]];
    if (typeof value === "object") return value.length === 0 && !field.isRequired ? [] : [[field.name, [...value]]];
    return [[field.name, value as string | boolean]];
  });
  return Object.fromEntries(entries);
}

function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null ? (value as JsonObject) : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
