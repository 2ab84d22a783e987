import { expect, test } from "vitest";
import { messageFor } from "../../src/consent/consent-form.ts";
import { questionPage } from "../../src/consent/consent-page.ts";
import { openPage } from "../support/open-page.ts";
import { send, step, visitPage } from "../support/page-visitor.ts";
import { sampleConfirmation } from "../support/sample-confirmations.ts";

/** Opens the page in a first window, which gives this answer. */
const answerOnPage = async (url: string, decision: string) => (await visitPage(url)).answer(decision);

test("the page shows the whole request and takes the answer, which the client never sees", async () => {
  await using here = await openPage();
  expect(here.params).toMatchObject({ mode: "url", elicitationId: expect.any(String) });
  expect(here.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/approve\/[\w-]{22}#[\w-]{43}$/);
  const empty = await send(here.url);
  for (const text of ["files", "write_file", "a.txt", "fairlead.toml", "claude-code"])
    expect(empty.body).not.toContain(text);
  expect(empty.body).toContain("This page needs JavaScript");
  const visitor = await visitPage(here.url);
  const page = await visitor.question();
  for (const text of ["files.write_file", "&#34;path&#34;: &#34;a.txt&#34;", "rule 1 of fairlead.toml", "claude-code"])
    expect(page.body).toContain(text);
  for (const answer of ["no", "once", "conversation", "always"]) expect(page.body).toContain(`value="${answer}"`);
  expect(page.body).not.toContain("<script");
  expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
  expect(page.headers["x-frame-options"]).toBe("DENY");
  expect(here.outcomes).toEqual([]);

  const sent = { body: "once", headers: { origin: new URL(here.url).origin, "sec-fetch-site": "same-origin" } };
  expect((await step(here.url, "answer", visitor.session, sent)).body).toContain("yes, once");
  await here.running;
  expect(here.outcomes).toEqual([["proceed_once", "page"]]);
  expect(here.completed).toEqual([here.params["elicitationId"]]);
  expect((await visitor.answer("no")).status).toBe(404);
  expect((await send(here.url)).status).toBe(404);
});

test("a person whose yes is about an earlier definition reads that nothing was run", async () => {
  await using here = await openPage(sampleConfirmation({ isOutdated: () => true }));
  const page = await answerOnPage(here.url, "once");
  expect(page.body).toContain("The definition of files.write_file changed while this question was open.");
  expect(page.body).toContain("Nothing was run");
  expect(page.body).toContain("Ask the program to try again");
  await here.ended;
});

test.for([
  ["no", "cancel"],
  ["conversation", "proceed_always_tool"],
  ["always", "proceed_always_and_save"],
] as const)("the button %s is %s", async ([decision, outcome]) => {
  await using here = await openPage();
  await answerOnPage(here.url, decision);
  await here.ended;
  expect(here.outcomes).toEqual([[outcome, "page"]]);
});

test("only the window that opened the address first sees and answers the question", async () => {
  await using here = await openPage();
  const code = here.url.slice(here.url.indexOf("#") + 1);
  const first = await visitPage(here.url);
  const strangers = [
    await step(here.url, "visit", code),
    await step(here.url, "question", code),
    await step(here.url, "answer", code, { body: "once" }),
    await step(here.url, "question", ""),
    await step(here.url, "answer", "", { body: "once" }),
    await step(here.url, "answer", first.session.toUpperCase(), { body: "once" }),
  ];
  expect(strangers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401]);
  for (const { body } of strangers) {
    expect(body).toContain("only the window that opened it first shows it and takes the answer");
    expect(body).not.toMatch(/write_file|a\.txt|claude-code/);
  }
  expect(here.outcomes).toEqual([]);
  // A reload of the first window shows the question again.
  expect((await first.question()).body).toContain("files.write_file");
  expect((await first.answer("once")).body).toContain("yes, once");
  await here.running;
  expect(here.outcomes).toEqual([["proceed_once", "page"]]);
});

test("an address without its code shows nothing, and leaves the question to the whole address", async () => {
  await using here = await openPage();
  const refused = [await step(here.url, "visit", ""), await step(here.url, "visit", "A".repeat(43))];
  expect(refused.map(({ status }) => status)).toEqual([401, 401]);
  expect(refused[0]?.body).toContain("open the whole address");
  await answerOnPage(here.url, "no");
  await here.ended;
  expect(here.outcomes).toEqual([["cancel", "page"]]);
});

test("foreign hosts, foreign pages, wrong addresses and wrong answers change nothing", async () => {
  await using here = await openPage();
  const { port, origin } = new URL(here.url);
  const { session, answer } = await visitPage(here.url);
  const post = (url: string, body: string, headers: Record<string, string> = {}) =>
    step(url, "answer", session, { body, headers });
  const refused = [
    await post(here.url, "once", { host: "evil.example" }),
    await post(here.url, "once", { host: `evil.example:${port}` }),
    await post(here.url, "once", { origin: "https://evil.example" }),
    await post(here.url, "once", { origin: "null" }),
    await post(here.url, "once", { "sec-fetch-site": "cross-site" }),
    await post(here.url, "once", { "sec-fetch-site": "same-site" }),
    await send(here.url, { headers: { host: "evil.example" } }),
    await send(here.url, { method: "PUT" }),
    await send(here.url, { method: "POST", body: "once", headers: { authorization: `Bearer ${session}` } }),
    await send(here.url, { method: "OPTIONS" }),
    await send(here.url.replace("#", "/answer#"), { method: "OPTIONS" }),
    await send(here.url.replace("#", "/question#"), { headers: { authorization: `Bearer ${session}` } }),
    await post(`${origin}/approve/${"A".repeat(22)}`, "once"),
    await send(`${origin}/approve/`),
    await send(`${origin}/`),
    await post(here.url, "yes"),
    await post(here.url, ""),
  ];
  expect(refused.map(({ status }) => status)).toEqual([
    403, 403, 403, 403, 405, 405, 403, 405, 405, 405, 405, 405, 404, 404, 404, 400, 400,
  ]);
  expect(refused.every(({ headers }) => headers["access-control-allow-origin"] === undefined)).toBe(true);
  // The limit is in bytes: 600 characters of two bytes are too many.
  for (const body of ["x".repeat(5000), "ä".repeat(600)])
    expect(await post(here.url, body).catch(() => ({ status: 500 }))).toMatchObject({ status: 500 });
  expect(here.outcomes).toEqual([]);
  await answer("no");
  await here.ended;
});

test("hostile text is escaped, and hidden characters are shown", async () => {
  const hostile = `<script>alert(1)</script>"><img src=x onerror=alert(1)>\u202Etxt.exe`;
  await using here = await openPage(
    sampleConfirmation({
      args: { [hostile]: hostile },
      rule: { decision: "ask_user", tier: "user", text: hostile },
      change: [{ member: hostile, before: hostile, after: hostile }],
    }),
  );
  const visitor = await visitPage(here.url);
  const { body } = await visitor.question();
  expect(body).not.toMatch(/<script|<img|\u202E/);
  expect(body).toContain("⟨U+202E⟩");
  expect(body).toContain("The definition has changed");
  // A rule for all later calls is not offered for a definition that is not accepted yet.
  expect(body).not.toContain('value="always"');
  await visitor.answer("no");
  await here.ended;
});

test("a page that is answered after the inbox says who answered", async () => {
  await using here = await openPage();
  const [entry] = await here.inbox.list();
  await here.inbox.answer(entry?.id ?? "", "no", "fairlead approvals");
  await here.ended;
  expect((await answerOnPage(here.url, "once")).body).toContain("already has an answer, from fairlead approvals: no");
  expect(here.outcomes).toEqual([["cancel", "inbox"]]);
});

test.for(["once", "conversation", "always"])(
  "%s on a page, too late, is a yes for the next identical call",
  async (answer) => {
    await using here = await openPage();
    await here.clock.fire(300_000);
    await here.ended;
    expect(here.outcomes).toEqual([]);
    expect((await answerOnPage(here.url, answer)).body).toContain("yes, once. The program no longer waits for it");
    expect(here.outcomes).toEqual([]);
    expect(await here.inbox.list()).toEqual([]);
  },
);

test("a yes to one resource for the conversation says that it covers all of its server", () => {
  const asked = {
    who: "client",
    client: "cursor",
    server: "files",
    args: {},
    reason: "",
    key: "",
    digest: "0",
  } as const;
  const answers = ["no", "once", "conversation"] as const;
  const resource = { ...asked, kind: "resource", name: "file:///a", answers } as const;
  const tool = { ...asked, kind: "tool", name: "write", answers } as const;
  expect(questionPage(resource)).toContain(">All resources of the server, until the program disconnects<");
  expect(messageFor(resource)).toContain("allows all resources of files");
  expect(questionPage(tool)).toContain(">This tool, until the program disconnects<");
  expect(messageFor({ ...resource, answers: ["no", "once"] })).not.toContain("all resources");
});
