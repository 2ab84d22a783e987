/** Asks about a call of `fairlead -p` in the inbox, if another program shows it to a person: the console or the app. */

import { sleep, systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import type { OpenHostOptions } from "@fairlead/core/host";
import { toShellWord, waitWords } from "@fairlead/core/plain-text";
import { outcomeOf, requestName, ToolConfirmationOutcome, toConfirmationView } from "@fairlead/core/policy";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { SharedConfirmations } from "@fairlead/gateway/consent/shared-confirmations";
import type { Context } from "../shell/verb.ts";

/** Milliseconds to wait for an answer, as for a client that cannot ask its user. */
const askedTime = 45_000;

/** Returns the host option `confirm`. Undefined if no person sees the inbox: calls that need confirmation are denied. */
export async function confirmInInbox(
  stateFolder: string,
  { io, out }: Pick<Context, "io" | "out">,
): Promise<OpenHostOptions["confirm"]> {
  const { clock = systemClock } = io;
  const shared = new SharedConfirmations(stateFolder, "fairlead -p", clock);
  if (!(await shared.isWatched().catch(() => false))) return undefined;
  return async (details, signal) => {
    const view = toConfirmationView(details, { who: "model" });
    const name = requestName(view);
    const open = await shared.share(view, () => details.isOutdated?.() === true);
    out.say(safe`${name} waits for approval: fairlead approvals allow ${toSafeLine(open.id)}`);
    const time = sleep(clock, askedTime, signal, { background: true }).catch(() => {});
    const given = await Promise.race([open.answered, time]);
    if (given === undefined) {
      await open.withdraw();
      throw new HostError("denied", `${name} denied: no approval came within ${waitWords(askedTime)}`, {
        serverName: view.server,
        next: `add --allow ${toShellWord(`${view.server}.${view.name}`)}`,
      });
    }
    if (given.answer === "no" && given.because !== undefined) return { because: given.because };
    return given.answer === "no" ? ToolConfirmationOutcome.Cancel : outcomeOf(given.answer, view.kind);
  };
}
