/** The options of the app (`fairlead` without a command). */

export const appOptions: readonly (readonly [flags: string, help: string])[] = [
  ["-m, --model <name>", "the model to use; `manual`: no model, you call the tools yourself"],
  ["--plain", "print line by line, for screen readers"],
];
