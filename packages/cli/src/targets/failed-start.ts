/** Messages about servers that failed in an earlier run and are skipped now, and how to try such a server again. */

import { HostError } from "@fairlead/core/errors";
import type { FailedStart } from "@fairlead/core/host";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { waitWords } from "@fairlead/core/text/wait-words";

/** Returns the error of the failed start. The message says when the start failed and when Fairlead tries again. */
export function skippedError({ server, message, failedAt, nextTryAt }: FailedStart, now: number): HostError {
  const times = `tried ${waitWords(now - failedAt)} ago, again in ${waitWords(nextTryAt - now)}`;
  return new HostError("unreachable", `${message} (${times})`, {
    serverName: server,
    next: `to try the server now: fairlead mcp test ${toShellWord(server)}`,
  });
}
