/** Shows what servers ask (elicitation) as questions of the console, if no client can answer it. */

import type { Clock } from "@fairlead/core/clock";
import { webUrl } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import type { OpenedHost } from "@fairlead/core/host";
import {
  type Answering,
  answerRequests,
  type Elicitation,
  type ElicitationAnswer,
  type Server,
} from "@fairlead/core/server";
import type { Answer, CallRow } from "../../protocol/rows.ts";
import type { Questions } from "./questions.ts";

/** How many questions a server may ask in a minute. */
const perMinute = 10;

interface ServerQuestionsOptions {
  readonly host: OpenedHost;
  readonly questions: Questions;
  readonly clock: Clock;
  /** The console's calls that run on a server now. */
  readonly callsOn: (server: string) => readonly CallRow[];
  readonly note: (text: string) => void;
}

/** Answers servers' questions while the console is open. Returns the function that ends this. */
export function askInConsole({ host, questions, clock, callsOn, note }: ServerQuestionsOptions): () => void {
  const answering = new WeakMap<Server, Answering>();

  function answererOf(server: Server): Answering | undefined {
    const made =
      answering.get(server) ??
      answerRequests(
        server.name,
        {
          elicit: askPerson,
          onUnaskable: ({ serverName }) =>
            note(`"${serverName}" asked a question with an invalid form or address; Fairlead declined it`),
        },
        { perMinute, clock },
      );
    if (made !== undefined) answering.set(server, made);
    return made;
  }

  async function askPerson(request: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer> {
    const { serverName: server, message } = request;
    const calls = callsOn(server);
    // The server does not say during which of several calls it asks.
    const call = calls.length === 1 ? calls[0] : undefined;
    const from = call === undefined ? `the server ${server}` : `${server}.${call.name} (from ${call.from})`;
    const asked = { server, from, message, call: call?.id };
    const answer =
      request.mode === "url"
        ? await askAddress(questions, { ...asked, kind: "address", url: request.url }, signal)
        : await questions.ask<"form">(
            { ...asked, kind: "form", schema: request.requestedSchema },
            signal,
            tell,
            (given) => checkForm(host, request.requestedSchema, given),
          );
    if (answer === undefined) return { action: "cancel" };
    return answer.kind === "form" && answer.action === "accept"
      ? { action: answer.action, content: answer.content }
      : { action: answer.action };
  }

  return host.person.add((name, params, signal) => {
    const answerer = answererOf(host.gateway.servers.get(name));
    if (answerer === undefined) throw new HostError("usage", `"${name}" cannot ask here`, { serverName: name });
    return answerer.onRequest("elicitation/create", params, signal);
  });
}

/** An address that Fairlead does not open anywhere can only be declined. */
function askAddress(
  questions: Questions,
  asked: Parameters<typeof questions.ask<"address">>[0],
  signal: AbortSignal,
): Promise<(Answer & { readonly kind: "address" }) | undefined> {
  const opens = webUrl(asked.url)?.href;
  return questions.ask<"address">({ ...asked, opens }, signal, tell, async ({ action }) => {
    if (action === "accept" && opens === undefined)
      throw new HostError(
        "usage",
        "the parameter answer.action must be decline or cancel: Fairlead opens no such address",
      );
  });
}

function tell({ action }: { readonly action: "accept" | "decline" | "cancel" }): string {
  return { accept: "answered", decline: "declined", cancel: "cancelled" }[action];
}

/** @throws HostError `usage` that names the wrong field */
async function checkForm(
  host: OpenedHost,
  schema: Parameters<OpenedHost["issuesIn"]>[0],
  answer: Answer & { readonly kind: "form" },
): Promise<void> {
  if (answer.action !== "accept") return;
  const [issue] = await host.issuesIn(schema, answer.content);
  if (issue !== undefined) throw new HostError("usage", `the parameter answer.content${issue.path} ${issue.message}`);
}
