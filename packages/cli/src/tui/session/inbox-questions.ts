/** Shows gateway clients' requests that wait for approval as confirmations in the app, while the app runs. */

import { type ToolCallConfirmationDetails, ToolConfirmationOutcome } from "@fairlead/core/registry/confirmation";
import type { ConsentAnswer, Inbox, InboxEntry } from "@fairlead/gateway/consent/inbox";
import type { QuestionQueue } from "./question-queue.ts";

export interface InboxQuestionsOptions extends Pick<QuestionQueue, "ask"> {
  readonly inbox: Pick<Inbox, "list" | "answer" | "useOf" | "watch">;
  readonly note: (tone: "info", text: string) => void;
  readonly fail: (error: unknown) => void;
  /** Returns the current time, in milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Maximum age of a request that is shown, in milliseconds. The gateway has already refused older requests. `fairlead
 * approvals` lists the refused requests.
 */
const recent = 60_000;
const place = "the terminal app";

/** Shows clients' requests from the inbox as questions, and sends the user's answers to the clients. */
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
      const outcome = await ask("confirmation", { kind: "confirmation", details: detailsOf(entry) }, gone.signal);
      // The signal aborts if the request was answered elsewhere, was cancelled or expired, or if the app ended. The
      // refusal that `ask` then returns is not the user's answer.
      if (gone.signal.aborted) return;
      const answered = await inbox.answer(id, answerOf(outcome), place, entry);
      const subject = `The request for ${entry.server}.${entry.name}`;
      if (!answered.isFirst) note("info", `${subject} was already answered in ${answered.by}.`);
      if (!answered.isFirst || answered.answer === "no") return;
      const use = await inbox.useOf(id, answered);
      if (use === "outdated")
        note("info", `${subject} did not run: the tool's definition changed while the request waited.`);
      if (use === "later")
        note(
          "info",
          `${subject} has not run yet: it runs if the program sends the same request again within ten minutes.`,
        );
    } finally {
      // A read of the inbox that has already begun may still list the request. Until it ends, the request stays in
      // `open`, so that the user is not asked again.
      looking = looking.then(() => void open.delete(id));
      lookSoon();
    }
  }

  async function look(): Promise<void> {
    if (isClosed) return;
    const entries = await inbox.list();
    const listed = new Set(entries.map(({ id }) => id));
    for (const [id, gone] of open) if (!listed.has(id)) gone.abort();
    for (const entry of entries) if (!open.has(entry.id) && entry.since > now() - recent) void put(entry).catch(fail);
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

function detailsOf({
  id,
  client,
  server,
  name,
  kind,
  args,
  reason,
  change,
  answers,
  folder,
}: InboxEntry): ToolCallConfirmationDetails {
  const asker = `asked by the program "${client}"${folder === undefined ? "" : ` in ${folder}`} (approval ${id})`;
  return {
    type: "mcp",
    title: "Confirm a client's request",
    serverName: server,
    toolName: kind === "tool" ? name : `${kind} ${name}`,
    toolDisplayName: kind === "tool" ? name : `${kind} ${name}`,
    description: "",
    args,
    rule: { decision: "ask_user", tier: "client", text: reason === "" ? asker : `${asker}; ${reason}` },
    ...(change && { change }),
    outcomes: [
      ToolConfirmationOutcome.ProceedOnce,
      ...(answers.includes("conversation") ? [ToolConfirmationOutcome.ProceedAlwaysTool] : []),
      ...(answers.includes("always") ? [ToolConfirmationOutcome.ProceedAlwaysAndSave] : []),
      ToolConfirmationOutcome.Cancel,
    ],
    onConfirm: async () => {},
  };
}

function answerOf(outcome: ToolConfirmationOutcome): ConsentAnswer {
  switch (outcome) {
    case ToolConfirmationOutcome.ProceedOnce:
      return "once";
    case ToolConfirmationOutcome.ProceedAlwaysTool:
      return "conversation";
    case ToolConfirmationOutcome.ProceedAlwaysAndSave:
      return "always";
    case ToolConfirmationOutcome.ProceedAlwaysServer:
    case ToolConfirmationOutcome.Cancel:
      return "no";
  }
}
