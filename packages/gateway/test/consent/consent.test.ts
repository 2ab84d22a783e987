import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { temporaryFolder } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { ApprovalNeeded } from "../../src/consent/approval-needed.ts";
import { type Consent, type ConsentOptions, createConsent } from "../../src/consent/consent.ts";
import { openInbox } from "../../src/consent/inbox.ts";
import { deferred } from "../support/deferred.ts";
import {
  type SampleConfirmation,
  sampleClient,
  sampleConfirmation,
  writeFile,
} from "../support/sample-confirmations.ts";
import { steppedClock } from "../support/stepped-clock.ts";

const never = new AbortController().signal;

async function scene(options: Partial<ConsentOptions> = {}) {
  const folder = await temporaryFolder();
  const clock = steppedClock();
  const state = join(folder.path, "state");
  const make = () => createConsent({ stateFolder: state, clock, now: clock.date, ...options });
  const consent = make();
  const inbox = openInbox(state, { clock, now: clock.date });
  return {
    folder,
    state,
    clock,
    consent,
    inbox,
    make,
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
  const error = await refusal(here.consent.port(sampleClient(), writeFile, never)(async () => details));
  const [entry] = await here.inbox.list();
  expect(error).toBeInstanceOf(ApprovalNeeded);
  expect(error.message).toBe(
    `Not run: files.write_file needs approval. To approve it, run: fairlead approvals allow ${entry?.id}, then call it again.`,
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
  const first = await refusal(here.consent.port(sampleClient(), writeFile, never)(async () => details));
  const id = first instanceof ApprovalNeeded ? first.id : "";
  expect(await here.inbox.answer(id.toLowerCase(), "once", "fairlead approvals")).toMatchObject({ isFirst: true });
  await using again = here.make();
  const other = sampleConfirmation({ args: { path: "b.txt", text: "hello" } });
  await refusal(again.port(sampleClient(), writeFile, never)(async () => other.details));
  const stranger = sampleClient({}, undefined, { name: "codex" });
  await refusal(again.port(stranger, writeFile, never)(async () => sampleConfirmation().details));
  expect(outcomes).toEqual([]);

  await again.port(sampleClient(), writeFile, never)(async () => details);
  expect(outcomes).toEqual([["proceed_once", "grant"]]);
  expect(await here.inbox.answer(id, "no", "the terminal")).toMatchObject({ isFirst: false, by: "fairlead approvals" });
  await refusal(again.port(sampleClient(), writeFile, never)(async () => details));
  expect(outcomes).toHaveLength(1);
});

test("a late yes holds for the same program in the same workspace only, and the question shows the folder", async () => {
  await using here = await scene();
  const { details, outcomes } = sampleConfirmation();
  const inA = { ...writeFile, identity: { fingerprint: "f1", root: "/work/a" } };
  const first = await refusal(here.consent.port(sampleClient(), inA, never)(async () => details));
  const id = first instanceof ApprovalNeeded ? first.id : "";
  expect(await here.inbox.show(id)).toMatchObject({ folder: "/work/a" });
  await here.inbox.answer(id, "once", "fairlead approvals");
  for (const identity of [undefined, { fingerprint: "f1", root: "/work/b" }, { fingerprint: "f2", root: "/work/a" }])
    await refusal(here.consent.port(sampleClient(), { ...writeFile, identity }, never)(async () => details));
  expect(outcomes).toEqual([]);
  const asked: unknown[] = [];
  const client = sampleClient({ form: true }, async ({ message }) => {
    asked.push(message);
    return { action: "decline" };
  });
  await here.consent.port(sampleClient(), inA, never)(async () => details);
  expect(outcomes).toEqual([["proceed_once", "grant"]]);
  await refusal(here.consent.port(client, inA, never)(async () => details));
  expect(asked).toEqual([expect.stringContaining("\nFolder: /work/a\n")]);
});

test("a late yes ends after ten minutes", async () => {
  await using here = await scene();
  const { details, outcomes } = sampleConfirmation();
  const first = await refusal(here.consent.port(sampleClient(), writeFile, never)(async () => details));
  await here.inbox.answer(first instanceof ApprovalNeeded ? first.id : "", "once", "fairlead approvals");
  here.clock.pass(600_001);
  await refusal(here.consent.port(sampleClient(), writeFile, never)(async () => details));
  expect(outcomes).toEqual([]);
});

test("of two identical calls, a late yes lets one run", async () => {
  await using here = await scene();
  const { details, outcomes } = sampleConfirmation();
  const first = await refusal(here.consent.port(sampleClient(), writeFile, never)(async () => details));
  await here.inbox.answer(first instanceof ApprovalNeeded ? first.id : "", "once", "fairlead approvals");
  const both = await Promise.allSettled(
    [1, 2].map(() => here.consent.port(sampleClient(), writeFile, never)(async () => details)),
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
  const running = here.consent.port(client, writeFile, never)(async () => details);
  const { id } = await onlyQuestion(here);
  await here.clock.fire(5000);
  expect(told).toEqual(["files.write_file is waiting for approval"]);
  await here.inbox.answer(id, "once", "the terminal");
  await running;
  expect(outcomes).toEqual([["proceed_once", "inbox"]]);

  const late = refusal(here.consent.port(client, writeFile, never)(async () => details));
  await here.clock.fire(45_000);
  expect(await late).toBeInstanceOf(ApprovalNeeded);
  await watching[Symbol.asyncDispose]();
  expect(await refusal(here.consent.port(client, writeFile, never)(async () => details))).toBeInstanceOf(
    ApprovalNeeded,
  );
  expect(outcomes).toHaveLength(1);
});

test.for([
  [{ action: "accept", content: { decision: "once" } }, "proceed_once"],
  [{ action: "accept", content: { decision: "this conversation" } }, "proceed_always_tool"],
  [{ action: "accept", content: { decision: "no" } }, "cancel"],
  [{ action: "accept", content: { decision: "always" } }, "cancel"],
  [{ action: "accept" }, "cancel"],
  [{ action: "decline", content: { decision: "once" } }, "cancel"],
  [{ action: "cancel" }, "cancel"],
  [{}, "cancel"],
] as const)("the form's answer %j is %s", async ([answer, outcome]) => {
  await using here = await scene({ saveRule: async () => {} });
  const asked: JsonObject[] = [];
  const client = sampleClient({ form: true }, async (params) => {
    asked.push(params);
    return answer;
  });
  const { details, outcomes } = sampleConfirmation();
  const running = here.consent.port(client, writeFile, never)(async () => details);
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

test("a form that gets no answer is not a no: the call can be approved later", async () => {
  await using here = await scene();
  const client = sampleClient({ form: true }, () => new Promise(() => {}));
  const { details, outcomes } = sampleConfirmation();
  const running = refusal(here.consent.port(client, writeFile, never)(async () => details));
  await here.clock.fire(300_000);
  const error = await running;
  expect(error).toBeInstanceOf(ApprovalNeeded);
  await here.inbox.answer(error instanceof ApprovalNeeded ? error.id : "", "once", "fairlead approvals");
  expect(outcomes).toEqual([]);
  await here.consent.port(client, writeFile, never)(async () => details);
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
  const running = here.consent.port(client, writeFile, never)(async () => details);
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
  await here.consent.port(client, writeFile, never)(async () => details);
  expect(modes).toEqual(["url", "form"]);
  expect(outcomes).toEqual([["proceed_once", "form"]]);
});

test("a cancelled request takes its question back", async () => {
  await using here = await scene();
  const cancel = new AbortController();
  const client = sampleClient({ form: true }, () => new Promise(() => {}));
  const { details, outcomes } = sampleConfirmation();
  const running = refusal(here.consent.port(client, writeFile, cancel.signal)(async () => details));
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
  const first = consent.port(client, writeFile, never)(async () => one.details);
  while (waiting.length > 1) await new Promise(setImmediate);
  const second = consent.port(
    client,
    writeFile,
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
        writeFile,
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
    runs.push(refusal(here.consent.port(client, writeFile, cancel.signal)(async () => details)));
    while (forms <= at) await new Promise(setImmediate);
  }
  const watching = await here.inbox.watch(() => {});
  // Refused at once although an inbox is open: the request is not in it.
  const error = await refusal(
    here.consent.port(sampleClient(), writeFile, never)(async () => sampleConfirmation().details),
  );
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

test("without a folder to write to, the client's own user can still answer", async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write("state", "a file, not a folder");
  const clock = steppedClock();
  await using consent = createConsent({ stateFolder: file, clock, now: clock.date });
  const { details, outcomes } = sampleConfirmation();
  const client = sampleClient({ form: true }, async () => ({ action: "accept", content: { decision: "once" } }));
  await consent.port(client, writeFile, never)(async () => details);
  expect(outcomes).toEqual([["proceed_once", "form"]]);
  expect(await refusal(consent.port(sampleClient(), writeFile, never)(async () => details))).toMatchObject({
    code: "denied",
    message: expect.stringContaining("needs approval, but Fairlead cannot write to the inbox of approvals"),
    next: "fairlead policy allow files.write_file",
  });
  const plan = { ...writeFile, kind: "prompt", name: "plan" } as const;
  expect(await refusal(consent.port(sampleClient(), plan, never)(async () => details))).toMatchObject({
    next: "fairlead policy allow --kind prompt files.plan",
  });
});
