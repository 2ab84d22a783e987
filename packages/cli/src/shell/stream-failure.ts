/** Classifies write errors of stdout and stderr. */

/** `hangup`: the terminal was closed; `enough`: the reading program ended (`| head`); `failure`: any other error. */
export type StreamFailure = "hangup" | "enough" | "failure";

export function streamFailure({ code }: NodeJS.ErrnoException, isTerminal: boolean): StreamFailure {
  if (code === "EIO" && isTerminal) return "hangup";
  return code === "EPIPE" ? "enough" : "failure";
}
