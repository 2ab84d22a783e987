import { join } from "node:path";
import { deferred, temporaryFolder } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { Consent } from "../../src/consent/consent.ts";
import { messageFor } from "../../src/consent/consent-form.ts";
import { Inbox } from "../../src/consent/inbox.ts";
import { sampleClient, sampleConfirmation } from "../support/sample-confirmations.ts";
import { scriptedPages } from "../support/scripted-pages.ts";
import { steppedClock } from "../support/stepped-clock.ts";

const never = new AbortController().signal;

/** Asks a question, and resolves when the client has the address of its page. */
async function openPage(details = sampleConfirmation()) {
  const folder = await temporaryFolder();
  const clock = steppedClock();
  const pages = scriptedPages();
  const options = { stateFolder: join(folder.path, "state"), clock, now: clock.date, pages };
  const consent = new Consent(options);
  const shown = deferred<JsonObject>();
  const completed: string[] = [];
  const client = sampleClient(
    { url: true, form: true },
    async (params) => {
      shown.resolve(params);
      return { action: "accept" };
    },
    { elicited: (id) => completed.push(id) },
  );
  const running = consent.port(client, never)(async () => details.details);
  const ended = Promise.allSettled([running]);
  const params = await shown.promise;
  return {
    visit: () => pages.visit(params["url"]),
    params,
    running,
    ended,
    completed,
    clock,
    inbox: new Inbox(options.stateFolder, options),
    outcomes: details.outcomes,
    async [Symbol.asyncDispose]() {
      await consent[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

test("the page gets the whole question and takes the answer, which the client never sees", async () => {
  await using here = await openPage();
  expect(here.params).toMatchObject({ mode: "url", elicitationId: expect.any(String) });
  const visitor = here.visit();
  expect(visitor.question).toMatchObject({
    client: "claude-code",
    server: "files",
    name: "write_file",
    args: { path: "a.txt", text: "hello" },
    reason: "rule 1 of fairlead.toml",
    answers: ["no", "once", "conversation", "always"],
  });
  expect(here.outcomes).toEqual([]);
  expect(await visitor.answer("once")).toEqual({
    outcome: "first",
    text: "Your answer: yes, once. You can close this page.",
  });
  await here.running;
  expect(here.outcomes).toEqual([["proceed_once", "page"]]);
  expect(here.completed).toEqual([here.params["elicitationId"]]);
});

test("a person whose yes is about an earlier definition reads that nothing was run", async () => {
  await using here = await openPage(sampleConfirmation({ isOutdated: () => true }));
  const { text } = await here.visit().answer("once");
  expect(text).toContain("The definition of files.write_file changed while this question was open.");
  expect(text).toContain("Nothing was run");
  expect(text).toContain("Ask the program to try again");
  await here.ended;
});

test.for([
  ["no", "cancel"],
  ["conversation", "proceed_always_tool"],
  ["always", "proceed_always_and_save"],
] as const)("the answer %s is %s", async ([decision, outcome]) => {
  await using here = await openPage();
  await here.visit().answer(decision);
  await here.ended;
  expect(here.outcomes).toEqual([[outcome, "page"]]);
});

test("the reason of a no reaches the client's model", async () => {
  await using here = await openPage();
  await here.visit().answer("no", "not on a Friday");
  await expect(here.running).rejects.toThrow("not on a Friday");
});

test("a page that is answered after the inbox says who answered", async () => {
  await using here = await openPage();
  const [entry] = await here.inbox.list();
  await here.inbox.answer(entry?.id ?? "", "no", "fairlead approvals");
  await here.ended;
  expect(await here.visit().answer("once")).toEqual({
    outcome: "late",
    text: "This question already has an answer, from fairlead approvals: no.",
  });
  expect(here.outcomes).toEqual([["cancel", "inbox"]]);
});

test.for(["once", "conversation", "always"] as const)(
  "%s on a page, too late, is a yes for the next identical call",
  async (answer) => {
    await using here = await openPage();
    await here.clock.fire(300_000);
    await here.ended;
    expect(here.outcomes).toEqual([]);
    expect((await here.visit().answer(answer)).text).toContain("yes, once. The program no longer waits for it");
    expect(here.outcomes).toEqual([]);
    expect(await here.inbox.list()).toEqual([]);
  },
);

test("a yes to one resource for the conversation says in a form that it covers all of its server", () => {
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
  expect(messageFor(resource)).toContain("allows all resources of files");
  expect(messageFor(tool)).not.toContain("all resources");
  expect(messageFor({ ...resource, answers: ["no", "once"] })).not.toContain("all resources");
});
