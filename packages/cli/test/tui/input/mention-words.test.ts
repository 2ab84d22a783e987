import type { HostResource } from "@fairlead/core/host";
import { describe, expect, test } from "vitest";
import { offerMentions, templateQuestions } from "../../../src/tui/input/mention-words.ts";

const resources: readonly HostResource[] = [
  { kind: "resource", server: "notes", name: "today", title: "Today", uri: "notes://today" },
  { kind: "resource", server: "wiki", name: "start page", uri: "file:///wiki/start page.md" },
  { kind: "template", server: "notes", name: "a day", uriTemplate: "notes://{year}/{day}" },
  { kind: "template", server: "wiki", name: "search", uriTemplate: "{+anything}" },
  { kind: "template", server: "wiki", name: "broken", uriTemplate: "wiki://{" },
];

test.each([
  ["", ["@notes://today", '@"wiki:file:///wiki/start page.md"', "@notes:notes://"]],
  ["//today", ["@notes://today"]],
  ["start", ['@"wiki:file:///wiki/start page.md"']],
  ["nothing like it", []],
])("behind @%s stand %j", (typed, values) => {
  expect(offerMentions(typed, resources).map(({ value }) => value)).toEqual(values);
});

test("a template is offered as far as it is fixed, and the word goes on", () => {
  expect(offerMentions("year", resources)).toEqual([
    { value: "@notes:notes://", label: "@notes:notes://{year}/{day}", about: "a day", isOpen: true },
  ]);
});

describe("the server of a template", () => {
  const of = { kind: "template", server: "notes", uriTemplate: "notes://{year}/{day}" };

  test.each([
    ["notes:notes://", { of, name: "year", value: "" }],
    ["notes://20", { of, name: "year", value: "20" }],
    ["notes:notes://2026/", { of, name: "day", value: "", given: { year: "2026" } }],
    ["notes:notes://a%20b/mon", { of, name: "day", value: "mon", given: { year: "a b" } }],
    ["notes:notes://20%", { of, name: "year", value: "20%" }],
  ])("is asked at @%s", (typed, request) => {
    expect(templateQuestions(typed, resources).map((question) => question.request)).toEqual([request]);
  });

  test.each(["", "note", "wiki:x", "other://"])("is not asked at @%s", (typed) => {
    expect(templateQuestions(typed, resources)).toEqual([]);
  });

  test("gives values that are written as parts of the URI, up to the next one", () => {
    const [year] = templateQuestions("notes:notes://", resources);
    const [day] = templateQuestions("notes:notes://2026/", resources);
    expect([year?.write("20 26"), day?.write("1/2")]).toEqual([
      { value: "@notes:notes://20%2026/", label: "20 26", about: "year of notes://{year}/{day}", isOpen: true },
      { value: "@notes:notes://2026/1%2F2", label: "1/2", about: "day of notes://{year}/{day}", isOpen: false },
    ]);
  });
});
