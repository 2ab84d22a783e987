import { expect, test } from "vitest";
import { bytesText, mediaText, toJson, toReadableJson } from "../../../src/normalise/content/json-text.ts";

test.each([
  ["image/png", "[image image/png, 3 B]"],
  ["audio/wav", "[audio audio/wav, 3 B]"],
  ["application/pdf", "[resource application/pdf, 3 B]"],
])("media of the type %s are described as %s", (mimeType, expected) => {
  expect(mediaText(mimeType, "QUJD")).toBe(expected);
});

test.each([
  ["", "[x, 0 B]"],
  ["QUJD", "[x, 3 B]"],
  ["%", "[x, not valid Base64]"],
])("the bytes %j are described as %s", (data, expected) => {
  expect(bytesText("x", data)).toBe(expected);
});

test.each<[string, unknown, unknown]>([
  ["of an image", { type: "image", data: "QUJD" }, { type: "image", data: "[application/octet-stream, 3 B]" }],
  ["of a sound", { type: "audio", data: "QUJD" }, { type: "audio", data: "[application/octet-stream, 3 B]" }],
  ["with a type", { mimeType: "x/y", data: "QUJD" }, { mimeType: "x/y", data: "[x/y, 3 B]" }],
  ["in a blob", { mimeType: "x/y", blob: "QUJD" }, { mimeType: "x/y", blob: "[x/y, 3 B]" }],
])("JSON shows the size of data %s", (_, given, expected) => {
  expect(JSON.parse(toReadableJson(given))).toEqual(expected);
});

test.each<[string, unknown]>([
  ["data of another kind", { type: "chart", data: "QUJD" }],
  ["data whose type is no text", { mimeType: 7, data: "QUJD" }],
  ["data that is no text", { type: "image", data: 5, blob: null }],
  ["another member", { type: "image", text: "QUJD" }],
])("JSON shows %s as it is", (_, given) => {
  expect(JSON.parse(toReadableJson(given))).toEqual(given);
});

test("what cannot be written as JSON is a note", () => {
  const endless: Record<string, unknown> = {};
  endless["self"] = endless;
  expect(toJson(endless)).toBe('"(nested too deeply to show)"');
});
