/** The message about a server that Fairlead skips because it failed to start in an earlier run. */

import { HostError } from "@fairlead/core/errors";
import type { FailedStart } from "@fairlead/core/host";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { waitWords } from "@fairlead/core/text/wait-words";

/** Returns an error that says when the server failed to start, why, and when Fairlead tries again. */
export function skippedError({ server, message, failedAt, nextTryAt }: FailedStart, now: number): HostError {
  const times = `tried ${waitWords(now - failedAt)} ago, again in ${waitWords(nextTryAt - now)}`;
  return new HostError("unreachable", `${message} (${times})`, {
    serverName: server,
    next: `to try the server now: fairlead mcp test ${toShellWord(server)}`,
  });
}
