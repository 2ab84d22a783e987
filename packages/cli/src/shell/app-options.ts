/** The options of the app (`fairlead` without a command). */

type Flags = readonly (readonly [flags: string, help: string])[];

/** Options that both the app and `fairlead -p` have. */
export const resumeFlags: Flags = [
  ["--continue", "continue the latest conversation of this workspace"],
  ["--resume [id]", "continue a recorded conversation; without an id, the app shows a list, and -p takes the latest"],
];

/** All options of the app, with their help texts. */
export const appOptions: Flags = [
  ["-m, --model <name>", "the model to use; `manual`: no model, you call the tools yourself"],
  ["--plain", "print line by line, for screen readers"],
  ...resumeFlags,
];
