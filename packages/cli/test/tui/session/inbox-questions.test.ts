import type { AnsweredQuestion, Inbox, InboxEntry } from "@fairlead/gateway/consent/inbox";
import { describe, expect, test } from "vitest";
import { showInbox } from "../../../src/tui/session/inbox-questions.ts";
import { QuestionQueue } from "../../../src/tui/session/question-queue.ts";
import { Store } from "../../../src/tui/session/store.ts";
import type { AnswersByKind, QuestionOf } from "../../../src/tui/state/questions.ts";
import { idle } from "../../support/tui/app-state.ts";

const entry = (id: string, more: Partial<InboxEntry> = {}): InboxEntry => ({
  id,
  since: 0,
  isAwaited: true,
  isOwn: false,
  who: "client",
  client: "cursor",
  server: "files",
  kind: "tool",
  name: "write_file",
  args: { path: "a.txt" },
  reason: "rule 1",
  key: "key",
  digest: "digest",
  answers: ["no", "once", "conversation", "always"],
  ...more,
});

interface Setting {
  readonly answered?: Partial<AnsweredQuestion>;
  readonly use?: "used" | "outdated" | "later";
  readonly now?: number;
}

/** An inbox in memory, and the app that shows it. `done` lists what the app does, in order. */
async function scene(entries: InboxEntry[], { answered = {}, use = "used", now = 0 }: Setting = {}) {
  const done: string[] = [];
  const store = new Store(idle);
  const queue = new QuestionQueue(store);
  let changed = (): void => {};
  const inbox: Pick<Inbox, "list" | "answer" | "useOf" | "watch"> = {
    list: async () => [...entries],
    answer: async (id, answer, by, shown, because) => {
      done.push(`answer ${id} ${answer} in ${by} (${shown?.key})${because === undefined ? "" : ` because ${because}`}`);
      entries.splice(0, entries.length, ...entries.filter((each) => each.id !== id));
      return { answer, by, at: 0, isFirst: true, isAwaited: true, ...answered };
    },
    useOf: async (id) => {
      done.push(`use of ${id}`);
      return use;
    },
    watch: async (listener) => {
      changed = listener;
      return { [Symbol.asyncDispose]: async () => void done.push("closed") };
    },
  };
  const shown = await showInbox({
    inbox,
    ask: queue.ask,
    note: (tone, text) => void done.push(`${tone}: ${text}`),
    fail: (error) => void done.push(`fail: ${String(error)}`),
    now: () => now,
  });
  /** Everything that follows from a change has happened, because the fakes never wait. */
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  await settled();
  return {
    done,
    settled,
    questions: () => store.get().questions as readonly QuestionOf<"confirmation">[],
    answer: async (value: AnswersByKind["confirmation"]) => {
      queue.answer(store.get().questions[0]?.key ?? "", { kind: "confirmation", value });
      await settled();
    },
    change: async () => {
      changed();
      await settled();
    },
    [Symbol.asyncDispose]: () => shown[Symbol.asyncDispose](),
  };
}

describe("a request of a client", () => {
  test("is shown as the gateway stored it: its origin, the request and the possible answers", async () => {
    const asked = entry("AB1", { folder: "/w", change: [{ member: "description", before: "a", after: "b" }] });
    await using app = await scene([asked]);
    expect(app.questions()[0]?.view).toEqual(asked);
  });

  test.each([
    ["once", "once", "you allowed it once"],
    ["conversation", "conversation", "you allowed it until the program disconnects"],
    ["always", "always", "you allowed it, also from now on"],
    ["server", "no", "you said no"],
    ["no", "no", "you said no"],
    [{ because: "not now" }, "no", "you said no, because: not now"],
  ] as const)("is answered: %j means %s, and the transcript keeps it", async (outcome, words, told) => {
    await using app = await scene([entry("AB1")]);
    await app.answer(outcome);
    expect(app.done).toEqual([
      `answer AB1 ${words} in the terminal app (key)${typeof outcome === "object" ? ` because ${outcome.because}` : ""}`,
      ...(words === "no" ? [] : ["use of AB1"]),
      `info: The request of "cursor" for files.write_file: ${told}.`,
    ]);
    expect(app.questions()).toEqual([]);
  });

  test.each([
    ["outdated", "did not run: the tool's definition changed while the request waited."],
    ["later", "has not run yet: it runs, once, if the program sends the same request again within ten minutes."],
  ] as const)("tells what became of the answer: %s", async (use, words) => {
    await using app = await scene([entry("AB1")], { use });
    await app.answer("once");
    expect(app.done.slice(2)).toEqual([`info: The request of "cursor" for files.write_file ${words}`]);
  });

  test("that was answered elsewhere in the meantime is told, and its use does not matter", async () => {
    await using app = await scene([entry("AB1")], { answered: { isFirst: false, by: "the page" }, use: "later" });
    await app.answer("once");
    expect(app.done.slice(1)).toEqual([
      'info: The request of "cursor" for files.write_file was already answered in the page.',
    ]);
  });
});

test("the app asks about a request once, and not about one that nothing waits for and that is older than a minute", async () => {
  const entries = [entry("NEW", { since: 1, isAwaited: false }), entry("OLD", { since: 0, isAwaited: false })];
  await using app = await scene(entries, { now: 60_001 });
  await app.change();
  expect(app.questions().map(({ view }) => view.id)).toEqual(["NEW"]);
});

test("the app that starts later asks about a request as long as its gateway waits", async () => {
  await using app = await scene([entry("AB1", { isAwaited: true })], { now: 299_000 });
  expect(app.questions()).toHaveLength(1);
});

test("requests that come later are asked, and those that are gone are no longer asked", async () => {
  const entries = [entry("ONE"), entry("TWO")];
  await using app = await scene(entries);
  entries.splice(0, 1);
  entries.push(entry("SIX"));
  await app.change();
  const asked = app.questions().map(({ view }) => view.id);
  expect([asked, app.done]).toEqual([["TWO", "SIX"], []]);
  // The same id again is another request.
  entries.push(entry("ONE"));
  await app.change();
  expect(app.questions()).toHaveLength(3);
});

test("at its end, the app closes its questions without an answer and asks no more", async () => {
  const entries = [entry("ONE")];
  const app = await scene(entries);
  await app[Symbol.asyncDispose]();
  entries.push(entry("TWO"));
  await app.change();
  expect([app.questions(), app.done]).toEqual([[], ["closed"]]);
});

test("an inbox that cannot be read is reported", async () => {
  const failures: unknown[] = [];
  const broken = new Error("no access");
  await using _shown = await showInbox({
    inbox: {
      list: () => Promise.reject(broken),
      answer: () => expect.fail("nothing is answered"),
      useOf: () => expect.fail("nothing is used"),
      watch: async () => ({ [Symbol.asyncDispose]: async () => {} }),
    },
    ask: () => expect.fail("nothing is asked"),
    note: () => expect.fail("nothing is told"),
    fail: (error) => void failures.push(error),
    now: () => 0,
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(failures).toEqual([broken]);
});
