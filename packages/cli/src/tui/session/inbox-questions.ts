/** Asks the user in the app about requests that came through `fairlead serve` and need confirmation. */

import { isRecent } from "@fairlead/core/clock";
import { requestName } from "@fairlead/core/policy";
import { toVisibleLine } from "@fairlead/core/text/safe-text";
import type { ConsentAnswer, Inbox, InboxEntry } from "@fairlead/gateway/consent/inbox";
import type { AnswersByKind } from "../state/questions.ts";
import type { QuestionQueue } from "./question-queue.ts";

/** The inbox to watch, and the functions with which the app asks the user and shows notes. */
export interface InboxQuestionsOptions extends Pick<QuestionQueue, "ask"> {
  readonly inbox: Pick<Inbox, "list" | "answer" | "useOf" | "watch">;
  readonly note: (tone: "info", text: string) => void;
  readonly fail: (error: unknown) => void;
  /** Returns the current time, in milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * The app asks about a request as long as a gateway waits for the answer, and for this many milliseconds if none does:
 * a gateway refuses a request at once if its client cannot ask and no app is open. `fairlead approvals` lists all of
 * them.
 */
const recent = 60_000;
const answeredBy = "the terminal app";

/** Watches the inbox, asks the user about each request, and writes the answers to the inbox. Dispose it to stop. */
export async function showInbox({ inbox, ask, note, fail, now }: InboxQuestionsOptions): Promise<AsyncDisposable> {
  const open = new Map<string, AbortController>();
  let looking: Promise<void> = Promise.resolve();
  let isClosed = false;

  async function put(entry: InboxEntry): Promise<void> {
    if (isClosed) return;
    const { id } = entry;
    const gone = new AbortController();
    open.set(id, gone);
    try {
      const given = await ask("confirmation", { kind: "confirmation", view: entry }, gone.signal);
      // Another program answered, the request expired, or the app ended. So the user did not answer.
      if (gone.signal.aborted) return;
      const because = typeof given === "object" ? given.because : undefined;
      const answered = await inbox.answer(id, answerOf(given, entry), answeredBy, entry, because);
      const subject = `The request of "${toVisibleLine(entry.client)}" for ${requestName(entry)}`;
      if (!answered.isFirst) return note("info", `${subject} was already answered in ${answered.by}.`);
      const { answer } = answered;
      if (answer === "no")
        return note("info", `${subject}: you said no${because === undefined ? "" : `, because: ${because}`}.`);
      const use = await inbox.useOf(id, answered);
      if (use === "outdated")
        note("info", `${subject} did not run: the tool's definition changed while the request waited.`);
      if (use === "later")
        note(
          "info",
          `${subject} has not run yet: it runs, once, if the program sends the same request again within ten minutes.`,
        );
      if (use === "used") note("info", `${subject}: you allowed it${lasting[answer]}.`);
    } finally {
      // An earlier `look` may still list this request. Until it has ended, the request stays in `open`, so that the
      // user is not asked again.
      looking = looking.then(() => void open.delete(id));
      lookSoon();
    }
  }

  async function look(): Promise<void> {
    if (isClosed) return;
    // The app shows the confirmations of its own conversation itself.
    const entries = (await inbox.list()).filter(({ isOwn, who }) => !isOwn || who === "client");
    const listed = new Set(entries.map(({ id }) => id));
    for (const [id, gone] of open) if (!listed.has(id)) gone.abort();
    for (const entry of entries)
      if (!open.has(entry.id) && (entry.isAwaited || isRecent(entry.since, recent, now()))) void put(entry).catch(fail);
  }

  function lookSoon(): void {
    looking = looking.then(look).catch(fail);
  }

  const watch = await inbox.watch(lookSoon);
  lookSoon();
  return {
    async [Symbol.asyncDispose]() {
      isClosed = true;
      for (const gone of open.values()) gone.abort();
      await watch[Symbol.asyncDispose]();
      await looking;
    },
  };
}

const lasting: Readonly<Record<Exclude<ConsentAnswer, "no">, string>> = {
  once: " once",
  conversation: " until the program disconnects",
  server: " with all tools of the server, until the conversation ends",
  always: ", also from now on",
};

/** Only answers that the question offers can come. Everything else is a no. */
function answerOf(given: AnswersByKind["confirmation"], { answers }: InboxEntry): ConsentAnswer {
  return answers.find((each) => each === given) ?? "no";
}
