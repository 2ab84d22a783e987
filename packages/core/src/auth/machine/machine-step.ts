/** One finished step of a machine's token request, for `mcp test`. It contains no secrets. */
export interface MachineStep {
  readonly action: "discovery" | "assertion" | "token exchange" | "token request";
  /** What happened in the step, as a text for the user. */
  readonly detail: string;
}

/** Called after each step of a token request. */
export type MachineObserver = (step: MachineStep) => void;
