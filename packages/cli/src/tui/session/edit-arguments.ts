/** Lets the user change the arguments of a model's call, in a form. */

import { allPropertiesOf } from "@fairlead/core/normalise";
import type { ToolCallConfirmationDetails } from "@fairlead/core/policy";
import type { JsonObject } from "@fairlead/wire";
import { isObject, member } from "@fairlead/wire/json";
import { formValues, openForm } from "../state/form.ts";
import type { QuestionQueue } from "./question-queue.ts";

/**
 * Shows a form with the arguments. Returns the new arguments, or undefined if the user cancels. `schema`: the tool's
 * input schema, as the server sent it.
 */
export async function editArguments(
  { serverName, toolName, description, args }: ToolCallConfirmationDetails,
  schema: unknown,
  { ask }: Pick<QuestionQueue, "ask">,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  const shown = withFieldsFor(args, schema);
  const answer = await ask(
    "form",
    { kind: "form", serverName, toolName, message: description, schema: shown, purpose: "edit", values: args },
    signal,
  );
  return answer.action === "accept" ? changed(args, answer.content ?? {}, shown) : undefined;
}

/** Adds a field for each argument that the schema does not declare. */
function withFieldsFor(args: JsonObject, schema: unknown): JsonObject {
  const declared = new Set(allPropertiesOf(schema).map(({ name }) => name));
  const others = Object.keys(args).filter((name) => !declared.has(name));
  const root: JsonObject = isObject(schema) ? schema : {};
  if (others.length === 0) return root;
  const properties = member(root, "properties");
  const added = Object.fromEntries(others.map((name) => [name, schemaFor(args[name])]));
  return { ...root, properties: { ...(isObject(properties) && properties), ...added } };
}

/** A new value is read as the old one's type: `{"a":1}` is an object only where an object was. */
function schemaFor(value: unknown): JsonObject {
  if (value === null || value === undefined) return {};
  return { type: Array.isArray(value) ? "array" : typeof value };
}

/**
 * Returns the arguments with the values that the user changed. A form cannot show every value exactly, so an argument
 * whose field is as it was keeps its value.
 */
function changed(args: JsonObject, entered: JsonObject, schema: JsonObject): JsonObject {
  const first = formValues(openForm(schema, args, false));
  const shown: JsonObject = first.kind === "values" ? first.values : {};
  const names = new Set([...Object.keys(args), ...Object.keys(entered)]);
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const isKept = Object.hasOwn(args, name) && JSON.stringify(member(shown, name)) === textOf(entered, name);
      const from = isKept ? args : entered;
      return Object.hasOwn(from, name) ? [[name, from[name]] as const] : [];
    }),
  );
}

function textOf(values: JsonObject, name: string): string | undefined {
  return JSON.stringify(member(values, name));
}
