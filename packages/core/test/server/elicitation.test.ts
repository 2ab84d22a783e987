import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { type Elicitation, type ElicitationAnswer, toElicitation, withDefaults } from "../../src/server/elicitation.ts";

const requestedSchema = {
  type: "object",
  properties: { name: { type: "string", default: "Ada" }, size: { type: "number", default: 0 }, note: {}, odd: true },
};
const form: Elicitation = { mode: "form", serverName: "s", message: "m", requestedSchema };

test.each<[JsonObject, Elicitation | undefined]>([
  [{ message: "m", requestedSchema }, form],
  [{ mode: "form", message: "m", requestedSchema }, form],
  [
    { message: 7, requestedSchema },
    { ...form, message: "" },
  ],
  [{ mode: "form", message: "m" }, undefined],
  [{ mode: "form", message: "m", requestedSchema: [] }, undefined],
  [{ mode: "video", message: "m", requestedSchema }, undefined],
  [
    { mode: "url", message: "m", url: "https://a.example" },
    { mode: "url", serverName: "s", message: "m", url: "https://a.example/" },
  ],
  [
    { mode: "url", url: "http://a.example/" },
    { mode: "url", serverName: "s", message: "", url: "http://a.example/" },
  ],
  [{ mode: "url", message: "m", requestedSchema }, undefined],
  [{ mode: "url", url: "a.example" }, undefined],
  [{ mode: "url", url: "file:///etc/passwd" }, undefined],
  [{ mode: "url", url: "https://bank.example@evil.example/" }, undefined],
  [{ mode: "url", url: "https://:word@evil.example/" }, undefined],
])("the question %j is read as %j", (params, question) => {
  expect(toElicitation("s", params)).toEqual(question);
});

test.each<[ElicitationAnswer, JsonObject]>([
  [{ action: "decline" }, { action: "decline" }],
  [{ action: "cancel" }, { action: "cancel" }],
  [{ action: "accept" }, { action: "accept", content: { name: "Ada", size: 0 } }],
  [
    { action: "accept", content: { name: "", note: false, unasked: 1 } },
    { action: "accept", content: { name: "", size: 0, note: false } },
  ],
  [
    { action: "accept", content: { name: undefined, size: 3 } },
    { action: "accept", content: { name: "Ada", size: 3 } },
  ],
])("the answer %j is sent as %j", (answer, sent) => {
  expect(withDefaults(form, answer)).toEqual(sent);
});

test("a form without fields has an empty content; a URL has none", () => {
  const accepted = { action: "accept", content: { name: "x" } } as const;
  expect(withDefaults({ ...form, requestedSchema: {} }, accepted)).toEqual({ action: "accept", content: {} });
  const address: Elicitation = { mode: "url", serverName: "s", message: "m", url: "https://a.example/" };
  expect(withDefaults(address, accepted)).toEqual({ action: "accept" });
});
