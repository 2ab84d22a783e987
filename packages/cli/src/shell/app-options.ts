/** The options of `fairlead` with nothing: those of the app. */

export const appOptions: readonly (readonly [flags: string, help: string])[] = [
  ["-m, --model <name>", "the model that answers; `manual`: you call the tools yourself"],
  ["--plain", "line by line, without moving the cursor: for screen readers"],
];
