/** A client of the gateway whose request waits for a person, who is asked on the page of one question. */

import { join } from "node:path";
import { type ToolCallConfirmationDetails, ToolConfirmationOutcome } from "@fairlead/core/policy/confirmation";
import { Consent } from "@fairlead/gateway/consent/consent";
import { Inbox } from "@fairlead/gateway/consent/inbox";
import { deferred, temporaryFolder } from "@fairlead/test-servers";
import { errorMessage } from "@fairlead/wire/text";
import { QuestionPageServer } from "../../src/server/door/question-pages.ts";
import { builtPage } from "./built-page.ts";

export interface AskedQuestion {
  /** The address of the page; "form" if the client was asked in a form. */
  readonly place: string;
  /** The answers that reached the host, with the place where they were given. */
  readonly outcomes: readonly (readonly [string, string | undefined])[];
  /** Resolves with "yes", or with the reason why the request was not run. */
  readonly ended: Promise<string>;
  readonly cancel: () => void;
}

export interface AskingGateway extends AsyncDisposable {
  readonly inbox: Inbox;
  /** Asks one question of a client's connection. */
  ask(details?: Partial<ToolCallConfirmationDetails>, conversation?: string): Promise<AskedQuestion>;
}

export async function askingGateway(): Promise<AskingGateway> {
  const folder = await temporaryFolder();
  const stateFolder = join(folder.path, "state");
  const pages = new QuestionPageServer({ readFiles: builtPage, version: "1.2.3" });
  const consent = new Consent({ stateFolder, pages });
  const leaving = new AbortController();
  const runs: Promise<string>[] = [];
  return {
    inbox: new Inbox(stateFolder),
    async ask(details = {}, conversation = "c1") {
      const outcomes: (readonly [string, string | undefined])[] = [];
      const cancelling = new AbortController();
      const place = deferred<string>();
      const client = {
        name: "claude-code",
        conversation,
        elicitation: { form: true, url: true },
        elicit: async ({ mode, url }: { readonly mode?: unknown; readonly url?: unknown }) => {
          place.resolve(mode === "url" ? String(url) : "form");
          return mode === "url" ? { action: "accept" } : new Promise<never>(() => {});
        },
      };
      const { ProceedOnce, ProceedAlwaysTool, ProceedAlwaysAndSave, Cancel } = ToolConfirmationOutcome;
      const confirmation: ToolCallConfirmationDetails = {
        type: "mcp",
        title: "Confirm",
        serverName: "files",
        toolName: "write_file",
        toolDisplayName: "write_file",
        description: "Writes a file",
        args: { path: "a.txt", text: "hello" },
        annotations: { destructiveHint: true },
        rule: { decision: "ask_user", tier: "user", text: "rule 1 of fairlead.toml" },
        outcomes: [ProceedOnce, ProceedAlwaysTool, ProceedAlwaysAndSave, Cancel],
        onConfirm: async (outcome, how) => void outcomes.push([outcome, how]),
        ...details,
      };
      const signal = AbortSignal.any([cancelling.signal, leaving.signal]);
      const ended = consent
        .port(
          client,
          signal,
        )(async () => confirmation)
        .then(() => "yes", errorMessage);
      runs.push(ended);
      return { place: await place.promise, outcomes, ended, cancel: () => cancelling.abort() };
    },
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await Promise.all(runs);
      await consent[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
