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

const template = (uriTemplate: string, server = "s"): HostResource => ({
  kind: "template",
  server,
  name: "page",
  uriTemplate,
});

test("a resource is found by its title, or by its name if it has no title", () => {
  const all: readonly HostResource[] = [
    { kind: "resource", server: "a", name: "zebra", title: "Horse", uri: "a://1" },
    { kind: "resource", server: "b", name: "quagga", uri: "b://2" },
  ];
  expect(offerMentions("quagga", all)).toEqual([{ value: "@b://2", about: "quagga" }]);
  expect(offerMentions("Horse", all)).toEqual([{ value: "@a://1", about: "Horse" }]);
  expect(offerMentions("zebra", all)).toEqual([]);
});

test("at most 30 resources are offered", () => {
  const all = Array.from({ length: 31 }, (_, at): HostResource => {
    return { kind: "resource", server: "a", name: `r${at}`, uri: `a://${at}` };
  });
  expect(offerMentions("", all).map(({ value }) => value)).toEqual(all.slice(0, 30).map((_, at) => `@a://${at}`));
});

test.each([
  ["notes", true],
  ["notes:/", true],
  ["notes://", false],
  ["notes:notes://", false],
  ["notes://y", false],
])("a template is offered at @%s until its fixed text is typed: %j", (typed, isOffered) => {
  expect(offerMentions(typed, [template("notes://{year}/{day}", "notes")])).toHaveLength(isOffered ? 1 : 0);
});

test.each([
  ["p://{a}.md", "p://x", [{ name: "a", value: "x" }]],
  ["p://{a}/{b}", "p://1/2/3", [{ name: "b", value: "2/3", given: { a: "1" } }]],
  ["p://{a}/{b}.md", "p://1/2.md", []],
  ["p://{+a}", "p://x/y", [{ name: "a", value: "x/y" }]],
  ["p://{#a}", "p://x", []],
  ["p://{?a}", "p://x", []],
  ["p://{a,b}", "p://x", []],
  ["p://{a}/{b,c}", "p://x/y", []],
  ["p://fixed", "p://fixed", []],
])("the server of %s is asked at @%s for %j", (uriTemplate, typed, requests) => {
  const of = { kind: "template", server: "s", uriTemplate };
  const questions = templateQuestions(typed, [template(uriTemplate)]);
  expect(questions.map(({ request }) => request)).toEqual(requests.map((request) => ({ of, ...request })));
});

test("the text after the server's name is the value, also if the URI scheme is the server's name", () => {
  const [question] = templateQuestions("n:n:x", [template("n:{a}", "n")]);
  expect(question?.request).toMatchObject({ name: "a", value: "x" });
});

test("a value is encoded as its expression asks, and the word is complete after the last variable", () => {
  const written = (uriTemplate: string, typed: string): unknown =>
    templateQuestions(typed, [template(uriTemplate)]).map(({ write }) => write("a/b c"));
  const about = (uriTemplate: string): object => ({ label: "a/b c", about: `a of ${uriTemplate}` });
  expect(written("p://{a}.md", "p://")).toEqual([
    { value: "@p://a%2Fb%20c.md", ...about("p://{a}.md"), isOpen: false },
  ]);
  expect(written("p://{+a}", "p://")).toEqual([{ value: "@p://a/b%20c", ...about("p://{+a}"), isOpen: false }]);
  expect(written("p://{a}/{b}", "p://")).toEqual([{ value: "@p://a%2Fb%20c/", ...about("p://{a}/{b}"), isOpen: true }]);
});
