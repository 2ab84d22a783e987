/** Converts the user's input in a form field to the value that is sent, or to a problem. */

import type { FormField } from "@fairlead/console/form/form-field";
import { type FieldValue, numberValue, problem, textValue } from "@fairlead/console/form/typed-value";
import { coerce } from "../../arguments/coerce.ts";
import { type Editor, wholeText } from "../input/editor.ts";

/** What the user has entered in a field. `at`: index of the choice. */
export type FieldEntry =
  | { readonly kind: "typed"; readonly editor: Editor }
  | { readonly kind: "switched"; readonly isOn?: boolean }
  | { readonly kind: "chosen"; readonly at?: number }
  /** `isTouched`: the user has changed the selection. Then an empty selection is sent as an empty list. */
  | {
      readonly kind: "several";
      readonly chosen: ReadonlySet<number>;
      readonly at: number;
      readonly isTouched: boolean;
    };

const nothing: FieldValue = { kind: "nothing" };

/** Returns the value of a field, or the problem if the entry does not fit the schema. */
export function fieldValue(field: FormField, entry: FieldEntry): FieldValue {
  const found = enteredValue(field, entry);
  const isMissing = found.kind === "nothing" && field.isRequired && field.default === undefined;
  return isMissing ? problem("is required") : found;
}

function enteredValue({ input }: FormField, entry: FieldEntry): FieldValue {
  switch (entry.kind) {
    case "chosen": {
      const choice = input.kind === "choice" && entry.at !== undefined ? input.choices[entry.at] : undefined;
      return choice === undefined ? nothing : { kind: "value", value: choice.value };
    }
    case "several": {
      if (input.kind !== "choices" || (!entry.isTouched && entry.chosen.size === 0)) return nothing;
      const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = input;
      const values = input.choices.flatMap(({ value }, at) => (entry.chosen.has(at) ? [value] : []));
      if (values.length < minItems) return problem(`must have at least ${minItems} selected`);
      return values.length > maxItems
        ? problem(`must have at most ${maxItems} selected`)
        : { kind: "value", value: values };
    }
    case "switched":
      return entry.isOn === undefined ? nothing : { kind: "value", value: entry.isOn };
    case "typed":
      return typedValue(input, wholeText(entry.editor));
  }
}

function typedValue(input: FormField["input"], text: string): FieldValue {
  if (text === "") return nothing;
  switch (input.kind) {
    case "text":
      return textValue(input, text);
    case "number":
      return numberValue(input, text.trim());
    case "json": {
      const read = coerce(text, input.schema, input.root);
      return read.kind === "value" ? read : problem(read.reason);
    }
    case "switch":
    case "choice":
    case "choices":
      return nothing;
  }
}
