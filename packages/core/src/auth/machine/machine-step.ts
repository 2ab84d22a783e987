/** A finished step of a machine's token request, shown by `mcp test`. It contains no key, assertion or token. */
export interface MachineStep {
  readonly action: "discovery" | "assertion" | "token exchange" | "token request";
  /** What the step did, as a text for people. */
  readonly detail: string;
}

export type MachineObserver = (step: MachineStep) => void;
