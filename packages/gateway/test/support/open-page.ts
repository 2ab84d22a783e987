/** A confirmation whose client opens the page. */

import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { Consent } from "../../src/consent/consent.ts";
import { Inbox } from "../../src/consent/inbox.ts";
import { deferred } from "./deferred.ts";
import { sampleClient, sampleConfirmation } from "./sample-confirmations.ts";
import { steppedClock } from "./stepped-clock.ts";

const never = new AbortController().signal;

/** Asks a question, and resolves when the client has the address of its page. */
export async function openPage(details = sampleConfirmation()) {
  const folder = await temporaryFolder();
  const clock = steppedClock();
  const options = {
    stateFolder: join(folder.path, "state"),
    clock,
    now: clock.date,
  };
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
    url: String(params["url"]),
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
