/**
 * The form of a JSON Schema: an input for each part, at any depth. What is entered is a `Draft`, so that the form and the
 * JSON text beside it always show the same values.
 */

import { pointerTo } from "@fairlead/core/normalise";
import type { ComponentChildren, VNode } from "preact";
import { useId } from "preact/hooks";
import { absent, type Draft, emptyDraft } from "../../form/draft.ts";
import type { Choice } from "../../form/form-field.ts";
import type { NestedField, NestedInput } from "../../form/nested-input.ts";
import { formatWords } from "../../form/typed-value.ts";
import { Button, IconButton } from "./button.tsx";
import { Field, type FieldIds } from "./field.tsx";
import { Text, visibleText } from "./text.tsx";

/** Problems by JSON pointer. */
export type Problems = ReadonlyMap<string, string>;

interface PartProps<K extends NestedInput["kind"] = NestedInput["kind"]> {
  readonly input: Extract<NestedInput, { readonly kind: K }>;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly problems: Problems;
  /** The JSON pointer of this part. */
  readonly at: string;
}

export interface SchemaFormProps {
  readonly input: NestedInput;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly problems: Problems;
}

export function SchemaForm({ input, draft, onChange, problems }: SchemaFormProps): VNode {
  const part = { draft, onChange, problems, at: "" };
  const isEmpty = input.kind === "object" && input.fields.length === 0 && input.others === undefined;
  if (isEmpty && draft.kind !== "json") return <p class="muted">The tool takes no arguments.</p>;
  if (input.kind === "object" && draft.kind !== "json") return <ObjectPart {...part} input={input} />;
  if (input.kind === "variant" && draft.kind !== "json")
    return <VariantPart {...part} input={input} title="Arguments" />;
  return (
    <Field label="Arguments" hint="as JSON" error={problems.get("")}>
      {(ids) => <JsonInput ids={ids} draft={draft} onChange={onChange} />}
    </Field>
  );
}

interface NamedPartProps extends PartProps {
  readonly title: string;
  readonly description?: string | undefined;
  readonly isRequired?: boolean;
  readonly isSecret?: boolean;
  /** Whether the part is an item of a list: it is removed, not left out. */
  readonly isItem?: boolean;
  /** Controls beside the title, such as the button that removes an item. */
  readonly tools?: ComponentChildren;
}

/** One part with its title. Objects and lists are groups; everything else is a labelled input. */
function Part(props: NamedPartProps): VNode {
  const { input, draft, title, description, isRequired = false, isSecret = false, tools, problems, at } = props;
  const isGroup =
    input.kind === "object" || input.kind === "list" || input.kind === "tuple" || input.kind === "variant";
  if (isGroup && draft.kind !== "json") return <Group {...props} />;
  const hints = [
    description === undefined ? [] : <Text key="description" of={description} lines most={600} />,
    draft.kind === "json" || input.kind === "json" ? <span key="json">JSON</span> : [],
    input.kind === "text" && input.format !== undefined ? <span key="format">{formatWords[input.format]}</span> : [],
    isSecret ? <strong key="secret">This looks like a secret. The server gets it as it is.</strong> : [],
  ].flat();
  return (
    <div class="schema-part">
      <Field
        label={<Text of={title} exact />}
        hint={hints.length === 0 ? undefined : <span class="schema-hints">{hints}</span>}
        error={errorText(problems.get(at))}
        isRequired={isRequired}
      >
        {(ids) => <Control {...props} ids={ids} />}
      </Field>
      {tools}
    </div>
  );
}

function errorText(problem: string | undefined): VNode | undefined {
  return problem === undefined ? undefined : <Text of={problem} lines />;
}

/** The input of a single value. */
function Control({ input, draft, onChange, ids, title }: NamedPartProps & { readonly ids: FieldIds }): VNode {
  if (draft.kind === "json" || input.kind === "json") return <JsonInput ids={ids} draft={draft} onChange={onChange} />;
  switch (input.kind) {
    case "constant":
      return <input {...ids} class="mono" readOnly value={visibleText(JSON.stringify(input.value), false, true)} />;
    case "text":
      return <TextInput ids={ids} draft={draft} onChange={onChange} isLong={(input.maxLength ?? 1000) > 200} />;
    case "number":
      return <TextInput ids={ids} draft={draft} onChange={onChange} isLong={false} mode="decimal" />;
    case "switch":
      return (
        <select
          {...ids}
          class="select"
          value={draft.kind === "switched" ? String(draft.isOn) : ""}
          onChange={({ currentTarget: { value } }) =>
            onChange(value === "" ? absent : { kind: "switched", isOn: value === "true" })
          }
        >
          <option value="">not set</option>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      );
    case "choice":
      return (
        <select
          {...ids}
          class="select"
          value={draft.kind === "chosen" ? String(draft.at) : ""}
          onChange={({ currentTarget: { value } }) =>
            onChange(value === "" ? absent : { kind: "chosen", at: Number(value) })
          }
        >
          <option value="">not set</option>
          {input.choices.map((choice, index) => (
            <option key={index} value={String(index)}>
              {choiceText(choice)}
            </option>
          ))}
        </select>
      );
    case "choices":
      return <Checkboxes ids={ids} choices={input.choices} draft={draft} onChange={onChange} title={title} />;
    case "object":
    case "list":
    case "tuple":
    case "variant":
      // These are groups.
      return <span />;
  }
}

function choiceText({ title, value }: Choice): string {
  const shown = visibleText(title, false, true);
  return typeof value === "string" && value !== title ? `${shown} (${visibleText(value, false, true)})` : shown;
}

interface InputProps {
  readonly ids: FieldIds;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
}

interface TextInputProps extends InputProps {
  readonly isLong: boolean;
  readonly mode?: "decimal";
}

function TextInput({ ids, draft, onChange, isLong, mode }: TextInputProps): VNode {
  const text = draft.kind === "typed" ? draft.text : "";
  const change = (value: string): void => onChange(value === "" ? absent : { kind: "typed", text: value });
  const shared = { ...ids, value: text, autocomplete: "off", spellcheck: false };
  return isLong ? (
    <textarea {...shared} rows={1} onInput={({ currentTarget }) => change(currentTarget.value)} />
  ) : (
    <input {...shared} inputMode={mode} onInput={({ currentTarget }) => change(currentTarget.value)} />
  );
}

/** A value as JSON text. */
export function JsonInput({ ids, draft, onChange }: InputProps): VNode {
  return (
    <textarea
      {...ids}
      class="mono"
      rows={3}
      spellcheck={false}
      autocomplete="off"
      value={draft.kind === "json" ? draft.text : ""}
      onInput={({ currentTarget: { value } }) => onChange(value === "" ? absent : { kind: "json", text: value })}
    />
  );
}

interface CheckboxesProps extends InputProps {
  readonly choices: readonly Choice[];
  readonly title: string;
}

function Checkboxes({ ids, choices, draft, onChange, title }: CheckboxesProps): VNode {
  const chosen = new Set(draft.kind === "several" ? draft.chosen : []);
  return (
    <div class="checkboxes" role="group" aria-label={visibleText(title)} aria-describedby={ids["aria-describedby"]}>
      {choices.map((choice, index) => (
        <label key={index} class="check-line">
          <input
            type="checkbox"
            id={index === 0 ? ids.id : undefined}
            checked={chosen.has(index)}
            onChange={({ currentTarget }) => {
              if (currentTarget.checked) chosen.add(index);
              else chosen.delete(index);
              onChange({ kind: "several", chosen: [...chosen].sort((one, other) => one - other) });
            }}
          />
          {choiceText(choice)}
        </label>
      ))}
    </div>
  );
}

/** A part with parts inside. It can be left out unless it is required. */
function Group(props: NamedPartProps): VNode {
  const { input, draft, onChange, title, description, isRequired = false, isItem = false, tools, problems, at } = props;
  const id = useId();
  const problem = problems.get(at);
  const isAbsent = draft.kind === "absent";
  return (
    <fieldset class="schema-group" aria-describedby={description === undefined ? undefined : id}>
      <legend>
        <Text of={title} exact />
        {isRequired && <span class="field-required">required</span>}
        {isAbsent ? (
          <Button kind="quiet" label={`Add ${visibleText(title)}`} onPress={() => onChange(startOf(input))}>
            Add
          </Button>
        ) : (
          !isRequired &&
          !isItem && (
            <Button kind="quiet" label={`Leave out ${visibleText(title)}`} onPress={() => onChange(absent)}>
              Leave out
            </Button>
          )
        )}
        {tools}
      </legend>
      {description !== undefined && (
        <div class="field-hint" id={id}>
          <Text of={description} lines most={600} />
        </div>
      )}
      {problem !== undefined && <div class="field-error">{errorText(problem)}</div>}
      {!isAbsent && (
        <div class="schema-inside">
          <GroupBody {...props} />
        </div>
      )}
    </fieldset>
  );
}

/** The draft of a part that the person adds. */
function startOf(input: NestedInput): Draft {
  if (input.kind === "list") return { kind: "list", items: [emptyDraft(input.item)] };
  return emptyDraft(input);
}

function GroupBody(props: NamedPartProps): VNode | null {
  const { input } = props;
  switch (input.kind) {
    case "object":
      return <ObjectPart {...props} input={input} />;
    case "list":
      return <ListPart {...props} inputAt={() => input.item} fixed={0} rest={input.item} />;
    case "tuple":
      return (
        <ListPart
          {...props}
          inputAt={(index) => input.items[index] ?? input.rest}
          fixed={input.items.length}
          rest={input.rest}
        />
      );
    case "variant":
      return <VariantPart {...props} input={input} />;
    case "constant":
    case "text":
    case "number":
    case "switch":
    case "choice":
    case "choices":
    case "json":
      return null;
  }
}

const emptyObject: Extract<Draft, { readonly kind: "object" }> = { kind: "object", members: {}, others: [] };

function ObjectPart({ input, draft, onChange, problems, at }: PartProps<"object">): VNode {
  const { members, others } = draft.kind === "object" ? draft : emptyObject;
  const set = (name: string, member: Draft): void =>
    onChange({ kind: "object", members: { ...members, [name]: member }, others });
  const setOthers = (next: typeof others): void => onChange({ kind: "object", members, others: next });
  return (
    <div class="schema-parts">
      {input.fields.map((field: NestedField) => (
        <Part
          key={field.name}
          {...field}
          draft={members[field.name] ?? absent}
          onChange={(member) => set(field.name, member)}
          problems={problems}
          at={pointerTo(at, field.name)}
        />
      ))}
      {input.others !== undefined && (
        <FreeKeys value={input.others} others={others} onChange={setOthers} problems={problems} at={at} />
      )}
    </div>
  );
}

type Others = Extract<Draft, { readonly kind: "object" }>["others"];

interface FreeKeysProps {
  readonly value: NestedInput;
  readonly others: Others;
  readonly onChange: (others: Others) => void;
  readonly problems: Problems;
  readonly at: string;
}

const noProblems: Problems = new Map();

/** Keys that the schema does not name, each with its value. */
function FreeKeys({ value, others, onChange, problems, at }: FreeKeysProps): VNode {
  const replace = (index: number, entry: Others[number]): void => onChange(others.with(index, entry));
  return (
    <div class="schema-parts">
      {others.map(({ key, draft }, index) => (
        <div key={index} class="schema-entry">
          <Field
            label={`Key ${index + 1}`}
            error={errorText(key === "" ? problems.get(pointerTo(at, key)) : undefined)}
          >
            {(ids) => (
              <input
                {...ids}
                class="mono"
                value={key}
                autocomplete="off"
                spellcheck={false}
                onInput={({ currentTarget }) => replace(index, { key: currentTarget.value, draft })}
              />
            )}
          </Field>
          <Part
            input={value}
            title={key === "" ? "Value" : `Value of ${key}`}
            draft={draft}
            onChange={(next) => replace(index, { key, draft: next })}
            problems={key === "" ? noProblems : problems}
            at={pointerTo(at, key)}
          />
          <IconButton
            icon="close"
            label={`Remove key ${index + 1}`}
            onPress={() => onChange(others.filter((_, each) => each !== index))}
          />
        </div>
      ))}
      <div>
        <Button onPress={() => onChange([...others, { key: "", draft: emptyDraft(value) }])}>Add a key</Button>
      </div>
    </div>
  );
}

interface ListPartProps extends NamedPartProps {
  readonly inputAt: (index: number) => NestedInput | undefined;
  /** The number of items that always exist. */
  readonly fixed: number;
  /** The input of further items. Undefined: there are none. */
  readonly rest: NestedInput | undefined;
}

function ListPart({ draft, onChange, problems, at, title, inputAt, fixed, rest }: ListPartProps): VNode {
  const items = draft.kind === "list" ? draft.items : [];
  const set = (next: readonly Draft[]): void => onChange({ kind: "list", items: next });
  return (
    <div class="schema-parts">
      {items.map((item, index) => {
        const input = inputAt(index);
        if (input === undefined) return null;
        const name = `${title} ${index + 1}`;
        return (
          <Part
            key={index}
            input={input}
            title={name}
            isItem
            draft={item}
            onChange={(next) => set(items.with(index, next))}
            problems={problems}
            at={pointerTo(at, index)}
            tools={
              index >= fixed && (
                <IconButton
                  icon="close"
                  label={`Remove ${visibleText(name)}`}
                  onPress={() => set(items.filter((_, each) => each !== index))}
                />
              )
            }
          />
        );
      })}
      {rest !== undefined && (
        <div>
          <Button label={`Add an item to ${visibleText(title)}`} onPress={() => set([...items, emptyDraft(rest)])}>
            Add an item
          </Button>
        </div>
      )}
    </div>
  );
}

type VariantPartProps = PartProps<"variant"> & { readonly title: string };

function VariantPart({ input, draft, onChange, problems, at, title }: VariantPartProps): VNode {
  const { alternatives } = input;
  const index = draft.kind === "variant" ? draft.at : 0;
  const chosen = alternatives[index];
  const inner = draft.kind === "variant" ? draft.draft : absent;
  const choose = (next: number): void => {
    const alternative = alternatives[next];
    if (alternative !== undefined) onChange({ kind: "variant", at: next, draft: emptyDraft(alternative.input) });
  };
  return (
    <div class="schema-parts">
      <select
        class="select"
        aria-label={`Form of ${visibleText(title)}`}
        value={String(index)}
        onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
      >
        {alternatives.map((alternative, each) => (
          <option key={each} value={String(each)}>
            {visibleText(alternative.title, false, true)}
          </option>
        ))}
      </select>
      {chosen !== undefined && (
        <VariantBody
          input={chosen.input}
          title={chosen.title}
          draft={inner}
          onChange={(next) => onChange({ kind: "variant", at: index, draft: next })}
          problems={problems}
          at={at}
        />
      )}
    </div>
  );
}

function VariantBody(props: NamedPartProps): VNode {
  const { input } = props;
  // Without another frame: the alternatives are one part of the form.
  return input.kind === "object" && props.draft.kind !== "json" ? (
    <ObjectPart {...props} input={input} />
  ) : (
    <Part {...props} />
  );
}
