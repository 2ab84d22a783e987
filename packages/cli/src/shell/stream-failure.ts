/** What it means that nothing more can be written to stdout or stderr. */

/** `hangup`: the terminal is gone; `enough`: whoever read has seen enough (`| head`). */
export type StreamFailure = "hangup" | "enough" | "failure";

export function streamFailure({ code }: NodeJS.ErrnoException, isTerminal: boolean): StreamFailure {
  if (code === "EIO" && isTerminal) return "hangup";
  return code === "EPIPE" ? "enough" : "failure";
}
