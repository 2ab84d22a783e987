import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { editArguments } from "../../../src/tui/session/edit-arguments.ts";
import { formValues, openForm } from "../../../src/tui/state/form.ts";
import type { Asked } from "../../../src/tui/state/questions.ts";
import { confirmationDetails } from "../../support/tui/samples.ts";

const schema = {
  type: "object",
  properties: {
    path: { type: "string" },
    mode: { type: "string", enum: ["append", "replace"], default: "replace" },
    lines: { type: "integer", default: 10 },
  },
  required: ["path"],
};
const { signal } = new AbortController();

/** Shows the form and changes its values as given. Returns the form's first values too. */
async function edit(args: JsonObject, change: (values: JsonObject) => JsonObject | undefined) {
  let shown: JsonObject = {};
  const ask = async (_kind: string, asked: Asked): Promise<never> => {
    if (asked.kind !== "form") return expect.fail("not a form");
    const first = formValues(openForm(asked.schema, asked.values, asked.purpose !== "edit"));
    shown = first.kind === "values" ? first.values : {};
    const content = change(shown);
    return (content === undefined ? { action: "cancel" } : { action: "accept", content }) as never;
  };
  const edited = await editArguments(confirmationDetails({ args }), schema, { ask: ask as never }, signal);
  return { shown, args: edited };
}

test("the form has the arguments of the call, and no defaults that the model did not send", async () => {
  const { shown, args } = await edit({ path: "a.txt" }, (values) => ({ ...values, path: "b.txt" }));
  expect(shown).toEqual({ path: "a.txt" });
  expect(args).toEqual({ path: "b.txt" });
});

test("an argument that the schema does not declare has a field too", async () => {
  const { shown, args } = await edit({ path: "a.txt", odd: { deep: [1] } }, (values) => ({
    ...values,
    odd: { deep: [2] },
  }));
  expect(shown).toEqual({ path: "a.txt", odd: { deep: [1] } });
  expect(args).toEqual({ path: "a.txt", odd: { deep: [2] } });
});

test("a value that the form cannot show stays as it was, unless the user enters another", async () => {
  const given = { path: "a.txt", mode: "rotate" };
  expect((await edit(given, (values) => values)).args).toEqual(given);
  expect((await edit(given, (values) => ({ ...values, mode: "append" }))).args).toEqual({
    path: "a.txt",
    mode: "append",
  });
});

test("an argument can be added or left out", async () => {
  expect((await edit({ path: "a", lines: 5 }, () => ({ path: "a", mode: "append" }))).args).toEqual({
    path: "a",
    mode: "append",
  });
});

test("without an answer there are no new arguments", async () => {
  expect((await edit({ path: "a" }, () => undefined)).args).toBeUndefined();
});
