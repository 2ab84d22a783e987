import { writeFile as put, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { canMount, deferred, smallDisk, temporaryFolder } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { ApprovalNeeded, toQuestion } from "../../src/consent/confirmed-request.ts";
import { Consent } from "../../src/consent/consent.ts";
import { Inbox } from "../../src/consent/inbox.ts";
import { readAnswer } from "../../src/consent/inbox-answers.ts";
import { inboxFolder, makeLate, writeEntry } from "../../src/consent/inbox-folder.ts";
import { type SampleConfirmation, sampleClient, sampleConfirmation } from "../support/sample-confirmations.ts";
import { scriptedPages, type Visitor } from "../support/scripted-pages.ts";
import { steppedClock } from "../support/stepped-clock.ts";

const never = new AbortController().signal;

async function scene(options: { readonly stateFolder?: string } = {}) {
  const folder = await temporaryFolder();
  const clock = steppedClock();
  const state = join(folder.path, "state");
  const pages = scriptedPages();
  const make = () => new Consent({ stateFolder: state, clock, now: clock.date, pages, ...options });
  const consent = make();
  const inbox = new Inbox(state, { clock, now: clock.date });
  return {
    folder,
    state,
    clock,
    consent,
    inbox,
    make,
    pages,
    async [Symbol.asyncDispose]() {
      await consent[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** The error of a request that did not run. */
async function refusal(run: Promise<void>): Promise<HostError> {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof HostError)) throw new Error("the request was not refused", { cause: error });
  return error;
}

/** Resolves with the only question in the inbox as soon as it is there. */
async function onlyQuestion({ inbox }: Pick<Awaited<ReturnType<typeof scene>>, "inbox">) {
  for (;;) {
    const [first] = await inbox.list();
    if (first !== undefined) return first;
    await new Promise(setImmediate);
  }
}

test("a client without elicitation is told at once how to approve the call, if no inbox is open", async () => {
  await using here = await scene();
  const { details, outcomes } = sampleConfirmation();
  const error = await refusal(here.consent.port(sampleClient(), never)(async () => details));
  const [entry] = await here.inbox.list();
  expect(error).toBeInstanceOf(ApprovalNeeded);
  expect(error.message).toBe(
    `Not run: files.write_file needs approval. To approve it, run: fairlead approvals allow ${entry?.id}, then call it again. Fairlead asks because rule 1 of fairlead.toml. To run it without asking from now on, the user can run: fairlead policy allow --client claude-code files.write_file`,
  );
  expect(error).toMatchObject({ code: "denied", next: `fairlead approvals allow ${entry?.id}` });
  expect(entry).toMatchObject({
    client: "claude-code",
    server: "files",
    name: "write_file",
    args: { path: "a.txt", text: "hello" },
    reason: "rule 1 of fairlead.toml",
  });
  expect(outcomes).toEqual([]);
});

test("a late yes holds for one identical call, also after a restart of the gateway", async () => {
  await using here = await scene();
  const { details, outcomes } = sampleConfirmation();
  const first = await refusal(here.consent.port(sampleClient(), never)(async () => details));
  const id = first instanceof ApprovalNeeded ? first.id : "";
  expect(await here.inbox.answer(id.toLowerCase(), "once", "fairlead approvals")).toMatchObject({ isFirst: true });
  await using again = here.make();
  const other = sampleConfirmation({ args: { path: "b.txt", text: "hello" } });
  await refusal(again.port(sampleClient(), never)(async () => other.details));
  const stranger = sampleClient({}, undefined, { name: "codex" });
  await refusal(again.port(stranger, never)(async () => sampleConfirmation().details));
  expect(outcomes).toEqual([]);

  await again.port(sampleClient(), never)(async () => details);
  expect(outcomes).toEqual([["proceed_once", "grant"]]);
  expect(await here.inbox.answer(id, "no", "the terminal")).toMatchObject({ isFirst: false, by: "fairlead approvals" });
  await refusal(again.port(sampleClient(), never)(async () => details));
  expect(outcomes).toHaveLength(1);
});

test("a late yes holds for the same program in the same workspace only, and the question shows the folder", async () => {
  await using here = await scene();
  const { details, outcomes } = sampleConfirmation();
  const inA = { fingerprint: "f1", root: "/work/a" };
  const first = await refusal(here.consent.port(sampleClient(), never, inA)(async () => details));
  const id = first instanceof ApprovalNeeded ? first.id : "";
  expect(await here.inbox.show(id)).toMatchObject({ folder: "/work/a" });
  await here.inbox.answer(id, "once", "fairlead approvals");
  for (const identity of [undefined, { fingerprint: "f1", root: "/work/b" }, { fingerprint: "f2", root: "/work/a" }])
    await refusal(here.consent.port(sampleClient(), never, identity)(async () => details));
  expect(outcomes).toEqual([]);
  const asked: unknown[] = [];
  const client = sampleClient({ form: true }, async ({ message }) => {
    asked.push(message);
    here.clock.pass(500);
    return { action: "decline" };
  });
  await here.consent.port(sampleClient(), never, inA)(async () => details);
  expect(outcomes).toEqual([["proceed_once", "grant"]]);
  await refusal(here.consent.port(client, never, inA)(async () => details));
  expect(asked).toEqual([expect.stringContaining("\nFolder: /work/a\n")]);
});

test.runIf(canMount())("a question whose answer cannot be stored is not left open", async () => {
  await using disk = await smallDisk();
  await using here = await scene({ stateFolder: disk.path });
  const client = sampleClient({ form: true }, async () => {
    await disk.allowFiles(0);
    here.clock.pass(500);
    return { action: "decline" };
  });
  const { details, outcomes } = sampleConfirmation();
  const error = await refusal(here.consent.port(client, never)(async () => details));
  expect(error.message).toBe("Not run: the answer about files.write_file cannot be stored: the disk is full");
  expect(await new Inbox(disk.path, { now: here.clock.date }).list()).toEqual([]);
  expect(outcomes).toEqual([]);
});

test("a late yes ends after ten minutes", async () => {
  await using here = await scene();
  const { details, outcomes } = sampleConfirmation();
  const first = await refusal(here.consent.port(sampleClient(), never)(async () => details));
  await here.inbox.answer(first instanceof ApprovalNeeded ? first.id : "", "once", "fairlead approvals");
  here.clock.pass(600_001);
  await refusal(here.consent.port(sampleClient(), never)(async () => details));
  expect(outcomes).toEqual([]);
});

test.each(["conversation", "always"] as const)(
  "a late yes to %s is a yes to one identical call, and opens no other conversation",
  async (answer) => {
    await using here = await scene();
    const first = await refusal(here.consent.port(sampleClient(), never)(async () => sampleConfirmation().details));
    const id = first instanceof ApprovalNeeded ? first.id : "";
    expect((await here.inbox.show(id)).answers).toEqual(["no", "once"]);
    expect(await here.inbox.answer(id, answer, "fairlead approvals")).toMatchObject({
      answer: "once",
      isFirst: true,
      isAwaited: false,
    });
    const next = sampleClient({}, undefined, { conversation: "c2" });
    const { details, outcomes } = sampleConfirmation();
    await here.consent.port(next, never)(async () => details);
    expect(outcomes).toEqual([["proceed_once", "grant"]]);
  },
);

test("a yes for the conversation whose gateway ended before it was used is a yes to one identical call", async () => {
  await using here = await scene();
  const client = sampleClient({ form: true }, () => new Promise(() => {}));
  const cancel = new AbortController();
  const running = refusal(here.consent.port(client, cancel.signal)(async () => sampleConfirmation().details));
  const { id } = await onlyQuestion(here);
  const folder = join(here.state, "inbox");
  const [entry = ""] = (await readdir(folder)).filter((name) => name.endsWith(".open.json"));
  const stored = JSON.parse(await readFile(join(folder, entry), "utf8")) as { readonly key: string };
  cancel.abort();
  await running;
  // What a gateway leaves behind that is killed between the answer and its use.
  await put(join(folder, entry), JSON.stringify({ ...stored, owner: { pid: 0x7fffffff, start: "1" } }));
  const given = {
    answer: "conversation",
    by: "fairlead approvals",
    at: here.clock.date(),
    key: stored.key.slice(0, 32),
  };
  await put(join(folder, `${id}.answer.json`), JSON.stringify(given));
  await using again = here.make();
  const { details, outcomes } = sampleConfirmation();
  await again.port(sampleClient(), never)(async () => details);
  expect(outcomes).toEqual([["proceed_once", "grant"]]);
});

test("a late yes from the future does not count: the clock was set back after it was given", async () => {
  await using here = await scene();
  const { details, outcomes } = sampleConfirmation();
  const ask = (): Promise<HostError> => refusal(here.consent.port(sampleClient(), never)(async () => details));
  const first = await ask();
  await here.inbox.answer(first instanceof ApprovalNeeded ? first.id : "", "once", "fairlead approvals");
  here.clock.pass(-86_400_000);
  const second = await ask();
  // The yes is gone for good: it does not count again when the clock shows its time.
  here.clock.pass(86_400_000);
  const third = await ask();
  expect([second, third]).toEqual([expect.any(ApprovalNeeded), expect.any(ApprovalNeeded)]);
  expect(outcomes).toEqual([]);
});

test("a request that waits can be answered although the clock was set back meanwhile", async () => {
  await using here = await scene();
  const client = sampleClient({ form: true }, () => new Promise(() => {}));
  const { details, outcomes } = sampleConfirmation();
  const running = here.consent.port(client, never)(async () => details);
  const { id } = await onlyQuestion(here);
  here.clock.pass(-86_400_000);
  await here.inbox.answer(id, "once", "fairlead approvals");
  await running;
  expect(outcomes).toEqual([["proceed_once", "inbox"]]);
});

test("a second gateway does not use an answer for which the first still waits", async () => {
  await using here = await scene();
  const folder = inboxFolder(here.state);
  const question = toQuestion("claude-code", sampleConfirmation().details);
  // The first gateway has not looked at the inbox since the answer: only its question is there.
  const entry = await writeEntry(folder, question, here.clock.date());
  await here.inbox.answer(entry.id, "once", "fairlead approvals");
  const { details, outcomes } = sampleConfirmation();
  const second = await refusal(here.consent.port(sampleClient(), never)(async () => details));
  expect([second, outcomes]).toEqual([expect.any(ApprovalNeeded), []]);
  expect(await readAnswer(folder, entry)).toMatchObject({ answer: "once" });
  // As soon as the first no longer waits, the answer is for the next identical request.
  await makeLate(folder, entry);
  await here.consent.port(sampleClient(), never)(async () => details);
  expect(outcomes).toEqual([["proceed_once", "grant"]]);
});

test("of two identical calls, a late yes lets one run", async () => {
  await using here = await scene();
  const { details, outcomes } = sampleConfirmation();
  const first = await refusal(here.consent.port(sampleClient(), never)(async () => details));
  await here.inbox.answer(first instanceof ApprovalNeeded ? first.id : "", "once", "fairlead approvals");
  const both = await Promise.allSettled(
    [1, 2].map(() => here.consent.port(sampleClient(), never)(async () => details)),
  );
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(outcomes).toEqual([["proceed_once", "grant"]]);
});

test("with an open inbox a client without elicitation waits, and is told so", async () => {
  await using here = await scene();
  const told: string[] = [];
  const client = sampleClient({}, undefined, { stillWaiting: (message) => told.push(message) });
  const { details, outcomes } = sampleConfirmation();
  const watching = await here.inbox.watch(() => {});
  const running = here.consent.port(client, never)(async () => details);
  const { id } = await onlyQuestion(here);
  await here.clock.fire(5000);
  expect(told).toEqual(["files.write_file is waiting for approval"]);
  await here.inbox.answer(id, "once", "the terminal");
  await running;
  expect(outcomes).toEqual([["proceed_once", "inbox"]]);

  const late = refusal(here.consent.port(client, never)(async () => details));
  await here.clock.fire(45_000);
  expect(await late).toBeInstanceOf(ApprovalNeeded);
  await watching[Symbol.asyncDispose]();
  expect(await refusal(here.consent.port(client, never)(async () => details))).toBeInstanceOf(ApprovalNeeded);
  expect(outcomes).toHaveLength(1);
});

test.for([
  [{ action: "accept", content: { decision: "once" } }, "proceed_once"],
  [{ action: "accept", content: { decision: "this conversation" } }, "proceed_always_tool"],
  [{ action: "accept", content: { decision: "no" } }, "cancel"],
  [{ action: "decline", content: { decision: "once" } }, "cancel"],
] as const)("the form's answer %j is %s", async ([answer, outcome]) => {
  await using here = await scene();
  const asked: JsonObject[] = [];
  const client = sampleClient({ form: true }, async (params) => {
    asked.push(params);
    here.clock.pass(500);
    return answer;
  });
  const { details, outcomes } = sampleConfirmation();
  const running = here.consent.port(client, never)(async () => details);
  if (outcome === "cancel") expect(await refusal(running)).toMatchObject({ code: "denied" });
  else await running;
  expect(outcomes).toEqual([[outcome, "form"]]);
  expect(asked).toMatchObject([
    {
      message: expect.stringContaining('Arguments: {"path":"a.txt","text":"hello"} (sha256 '),
      requestedSchema: { properties: { decision: { enum: ["no", "once", "this conversation"], default: "no" } } },
    },
  ]);
  expect(await here.inbox.list()).toEqual([]);
});

/** How a client ends an elicitation, and how many milliseconds after it came. */
type Ending = readonly [action: string, after: number];

/** A client that ends each elicitation as told. Counts the elicitations of each mode. */
function endingClient(
  { clock }: Pick<Awaited<ReturnType<typeof scene>>, "clock">,
  endings: { readonly url?: Ending; readonly form?: Ending },
  visit: (url: string) => Promise<unknown> = async () => undefined,
) {
  const modes: string[] = [];
  const client = sampleClient({ url: "url" in endings, form: "form" in endings }, async ({ mode, url }) => {
    modes.push(mode === "url" ? "url" : "form");
    if (mode === "url") await visit(String(url));
    const [action = "", after = 0] = (mode === "url" ? endings.url : endings.form) ?? [];
    clock.pass(after);
    return { action };
  });
  return { client, modes };
}

test.for([
  ["decline", 0, "decline", 0],
  ["cancel", 0, "cancel", 0],
  ["decline", 200_000, "decline", 499],
  ["cancel", 200_000, "cancel", 499],
] as const)(
  "the %s of a page that no window opened, after %i ms, and the %s of a form after %i ms are no answers",
  async ([ofPage, pageTime, ofForm, formTime]) => {
    await using here = await scene();
    const { client, modes } = endingClient(here, { url: [ofPage, pageTime], form: [ofForm, formTime] });
    const { details, outcomes } = sampleConfirmation();
    const error = await refusal(here.consent.port(client, never)(async () => details));
    expect(modes).toEqual(["url", "form"]);
    expect(error).toBeInstanceOf(ApprovalNeeded);
    // The host would record an answer here.
    expect(outcomes).toEqual([]);
    expect((await here.inbox.list()).map(({ id }) => `fairlead approvals allow ${id}`)).toEqual([error.next]);
  },
);

test("a question that was not shown to a person waits in the inbox while the app is open", async () => {
  await using here = await scene();
  const { client, modes } = endingClient(here, { url: ["decline", 0], form: ["cancel", 0] });
  const watching = await here.inbox.watch(() => {});
  const { details, outcomes } = sampleConfirmation();
  const running = here.consent.port(client, never)(async () => details);
  const { id } = await onlyQuestion(here);
  await here.inbox.answer(id, "once", "the terminal");
  await running;
  expect(modes).toEqual(["url", "form"]);
  expect(outcomes).toEqual([["proceed_once", "inbox"]]);
  await watching[Symbol.asyncDispose]();
});

test("the address of a page that the client refused is dead", async () => {
  await using here = await scene();
  const urls: string[] = [];
  const client = sampleClient({ url: true }, async ({ url }) => {
    urls.push(String(url));
    return { action: "decline" };
  });
  await refusal(here.consent.port(client, never)(async () => sampleConfirmation().details));
  expect(() => here.pages.visit(urls[0])).toThrow("no page");
});

test.for([
  ["cancel", 500],
  ["dismiss", 500],
] as const)(
  "a %s of a form after %i ms ends the call unanswered, also while the app is open",
  async ([action, after]) => {
    await using here = await scene();
    const { client } = endingClient(here, { form: [action, after] });
    const watching = await here.inbox.watch(() => {});
    const { details, outcomes } = sampleConfirmation();
    const error = await refusal(here.consent.port(client, never)(async () => details));
    expect(error).toBeInstanceOf(ApprovalNeeded);
    expect(outcomes).toEqual([]);
    expect(await here.inbox.list()).toHaveLength(1);
    await watching[Symbol.asyncDispose]();
  },
);

test.for([[{ action: "accept", content: { decision: "always" } }], [{ action: "accept" }], [{}]])(
  "the form's answer %j is none of the offered ones: the request stays in the inbox",
  async ([answer = {}]) => {
    await using here = await scene();
    const client = sampleClient({ form: true }, async () => {
      here.clock.pass(500);
      return answer;
    });
    const { details, outcomes } = sampleConfirmation();
    expect(await refusal(here.consent.port(client, never)(async () => details))).toBeInstanceOf(ApprovalNeeded);
    expect(outcomes).toEqual([]);
    expect(await here.inbox.list()).toHaveLength(1);
  },
);

test("after a visit of the page, a decline is a no, and a cancel leaves the question open on the page", async () => {
  await using here = await scene();
  const declining = endingClient(here, { url: ["decline", 0], form: ["accept", 0] }, async (url) =>
    here.pages.visit(url),
  );
  const no = sampleConfirmation();
  expect(await refusal(here.consent.port(declining.client, never)(async () => no.details))).not.toBeInstanceOf(
    ApprovalNeeded,
  );
  expect(no.outcomes).toEqual([["cancel", "form"]]);
  expect(declining.modes).toEqual(["url"]);

  const visitors: Visitor[] = [];
  const cancelling = endingClient(here, { url: ["cancel", 0], form: ["accept", 0] }, async (url) =>
    visitors.push(here.pages.visit(url)),
  );
  const open = sampleConfirmation();
  const error = await refusal(here.consent.port(cancelling.client, never)(async () => open.details));
  expect(error).toBeInstanceOf(ApprovalNeeded);
  expect(cancelling.modes).toEqual(["url"]);
  expect(open.outcomes).toEqual([]);
  expect(await visitors[0]?.answer("once")).toEqual({
    outcome: "first",
    text: "Your answer: yes, once. The program no longer waits for it, so nothing was run. If the program sends exactly this request again within ten minutes, it runs.",
  });
});

test("a client that fails after its user has opened the page waits for the answer on the page", async () => {
  await using here = await scene();
  const visitors: Visitor[] = [];
  const client = sampleClient({ url: true, form: true }, async ({ url }) => {
    visitors.push(here.pages.visit(url));
    throw new Error("timed out");
  });
  const { details, outcomes } = sampleConfirmation();
  const running = here.consent.port(client, never)(async () => details);
  while (visitors.length === 0) await new Promise(setImmediate);
  await visitors[0]?.answer("once");
  await running;
  expect(outcomes).toEqual([["proceed_once", "page"]]);
});

test("a form that gets no answer is not a no: the call can be approved later", async () => {
  await using here = await scene();
  const client = sampleClient({ form: true }, () => new Promise(() => {}));
  const { details, outcomes } = sampleConfirmation();
  const running = refusal(here.consent.port(client, never)(async () => details));
  await here.clock.fire(300_000);
  const error = await running;
  expect(error).toBeInstanceOf(ApprovalNeeded);
  await here.inbox.answer(error instanceof ApprovalNeeded ? error.id : "", "once", "fairlead approvals");
  expect(outcomes).toEqual([]);
  await here.consent.port(client, never)(async () => details);
  expect(outcomes).toEqual([["proceed_once", "grant"]]);
});

test("while a form is open, the inbox can answer: the first answer counts", async () => {
  await using here = await scene();
  const elicited = deferred<JsonObject>();
  const signals: AbortSignal[] = [];
  const client = sampleClient({ form: true }, (_, signal) => {
    signals.push(signal);
    return elicited.promise;
  });
  const { details, outcomes } = sampleConfirmation();
  const running = here.consent.port(client, never)(async () => details);
  const { id } = await onlyQuestion(here);
  await here.inbox.answer(id, "no", "fairlead approvals");
  expect(await refusal(running)).toMatchObject({ code: "denied" });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  elicited.resolve({ action: "accept", content: { decision: "once" } });
  await new Promise(setImmediate);
  expect(outcomes).toEqual([["cancel", "inbox"]]);
});

test("a client that cannot show what it declares is asked in the next way", async () => {
  await using here = await scene();
  const modes: unknown[] = [];
  const client = sampleClient({ form: true, url: true }, async (params) => {
    modes.push(params["mode"] ?? "form");
    if (params["mode"] === "url") throw new Error("unsupported");
    return { action: "accept", content: { decision: "once" } };
  });
  const { details, outcomes } = sampleConfirmation();
  await here.consent.port(client, never)(async () => details);
  expect(modes).toEqual(["url", "form"]);
  expect(outcomes).toEqual([["proceed_once", "form"]]);
});

test("a cancelled request takes its question back", async () => {
  await using here = await scene();
  const cancel = new AbortController();
  const client = sampleClient({ form: true }, () => new Promise(() => {}));
  const { details, outcomes } = sampleConfirmation();
  const running = refusal(here.consent.port(client, cancel.signal)(async () => details));
  const { id } = await onlyQuestion(here);
  cancel.abort();
  expect(await running).toMatchObject({ code: "cancelled" });
  expect(await here.inbox.list()).toEqual([]);
  await expect(here.inbox.answer(id, "once", "late")).rejects.toMatchObject({ code: "not_found" });
  expect(outcomes).toEqual([]);
});

/** Two open questions about one tool; the person answers the first one with "this conversation". */
async function answeredForConversation(
  consent: Consent,
  [one, two]: readonly [SampleConfirmation, SampleConfirmation],
  isCovered: boolean,
) {
  const answers = [deferred<JsonObject>(), deferred<JsonObject>()];
  const waiting = [...answers];
  const client = sampleClient(
    { form: true },
    () => waiting.shift()?.promise ?? Promise.reject(new Error("asked again")),
  );
  const decidedAgain = deferred<void>();
  const first = consent.port(client, never)(async () => one.details);
  while (waiting.length > 1) await new Promise(setImmediate);
  const second = consent.port(
    client,
    never,
  )(async () => {
    if (one.outcomes.length === 0) return two.details;
    decidedAgain.resolve();
    return isCovered ? false : two.details;
  });
  while (waiting.length > 0) await new Promise(setImmediate);
  answers[0]?.resolve({ action: "accept", content: { decision: "this conversation" } });
  await first;
  await decidedAgain.promise;
  return { second, answer: answers[1] };
}

test("a yes for the conversation answers the open questions about the same tool that the host then allows", async () => {
  await using here = await scene();
  const both = [sampleConfirmation(), sampleConfirmation({ args: { path: "b.txt" } })] as const;
  const { second } = await answeredForConversation(here.consent, both, true);
  await second;
  expect(both.flatMap(({ outcomes }) => outcomes).map(([outcome]) => outcome)).toEqual([
    "proceed_always_tool",
    "proceed_once",
  ]);
});

test("a yes for the conversation does not answer a question with a changed definition that the person has not seen", async () => {
  await using here = await scene();
  const changed = sampleConfirmation({ change: [{ member: "description", before: "Writes", after: "Deletes" }] });
  const { second, answer } = await answeredForConversation(here.consent, [sampleConfirmation(), changed], false);
  expect((await here.inbox.list()).map(({ change }) => change?.[0]?.after)).toEqual(["Deletes"]);
  expect(changed.outcomes).toEqual([]);
  here.clock.pass(500);
  answer?.resolve({ action: "decline" });
  expect(await refusal(second)).toMatchObject({ code: "denied" });
  expect(changed.outcomes).toEqual([["cancel", "form"]]);
});

test("a client fills neither the inbox nor the disk", async () => {
  await using here = await scene();
  const ask = (client: string, at: number) =>
    refusal(
      here.consent.port(
        sampleClient({}, undefined, { name: client }),
        never,
      )(async () => sampleConfirmation({ args: { at, text: "x".repeat(200_000) } }).details),
    );
  await ask("codex", 0);
  for (let at = 0; at < 40; at += 1) await ask("claude-code", at);
  const entries = await here.inbox.list();
  expect(entries.filter(({ client }) => client === "claude-code")).toHaveLength(32);
  expect(entries.filter(({ client }) => client === "codex")).toHaveLength(1);
  expect(entries.every(({ isCut }) => isCut)).toBe(true);
  // The same call again keeps its question.
  await ask("claude-code", 39);
  expect((await here.inbox.list()).map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
  const files = await readdir(join(here.state, "inbox"));
  for (const file of files) {
    const { mode, size } = await stat(join(here.state, "inbox", file));
    expect(mode & 0o077).toBe(0);
    expect(size).toBeLessThan(70_000);
  }
});

test("if too many requests of a client wait, the next one is refused without the advice to write a rule", async () => {
  await using here = await scene();
  const cancel = new AbortController();
  let forms = 0;
  const client = sampleClient({ form: true }, () => {
    forms += 1;
    return new Promise(() => {});
  });
  const runs: Promise<HostError>[] = [];
  for (let at = 0; at < 32; at += 1) {
    const { details } = sampleConfirmation({ args: { at } });
    runs.push(refusal(here.consent.port(client, cancel.signal)(async () => details)));
    while (forms <= at) await new Promise(setImmediate);
  }
  const watching = await here.inbox.watch(() => {});
  // Refused at once although an inbox is open: the request is not in it.
  const error = await refusal(here.consent.port(sampleClient(), never)(async () => sampleConfirmation().details));
  expect(error).toMatchObject({
    code: "denied",
    message:
      "Not run: files.write_file needs approval, but 32 requests of claude-code are already waiting for approval",
    next: "fairlead approvals list",
  });
  await watching[Symbol.asyncDispose]();
  cancel.abort();
  await Promise.all(runs);
});

test("if the state folder cannot be written and a definition may have changed, the client reads that, and no advice to write a rule", async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write("state", "a file, not a folder");
  const clock = steppedClock();
  await using consent = new Consent({ stateFolder: file, clock, now: clock.date });
  const doubt = "the state folder /home/ada/.fairlead cannot be written: the file system is read-only";
  const { details } = sampleConfirmation({ rule: { decision: "ask_user", tier: "default", text: "a rule", doubt } });
  expect(await refusal(consent.port(sampleClient(), never)(async () => details))).toMatchObject({
    code: "denied",
    message: `files.write_file denied: its definition may have changed since an earlier run: ${doubt}`,
    next: expect.stringContaining("Make Fairlead's folder writable"),
  });
});

test("without a folder to write to, the client's own user can still answer", async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write("state", "a file, not a folder");
  const clock = steppedClock();
  await using consent = new Consent({ stateFolder: file, clock, now: clock.date });
  const { details, outcomes } = sampleConfirmation();
  const client = sampleClient({ form: true }, async () => ({ action: "accept", content: { decision: "once" } }));
  await consent.port(client, never)(async () => details);
  expect(outcomes).toEqual([["proceed_once", "form"]]);
  expect(await refusal(consent.port(sampleClient(), never)(async () => details))).toMatchObject({
    code: "denied",
    message: `Not run: files.write_file needs approval, but the inbox of approvals in ${file}/inbox cannot be written: a part of its path is a file, not a folder`,
    next: `Make ${file}/inbox writable (fairlead doctor checks this), or set FAIRLEAD_HOME to another folder.`,
  });
});
