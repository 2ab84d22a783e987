/** Where the SDK keeps the contract otherwise than our engine. Whatever is not here, both do alike. */

export const differences = {
  lastProgress: "progress that arrives together with the result may be lost: it is handed on one turn later",
  patience: "in the legacy era the clock runs on while a person answers the server's question",
  refusal:
    "an error of the server in an HTTP refusal is an opaque HTTP error, also for an unknown method of the modern era",
  lastWords: "a call whose server dies knows no exit code over stdio, and over HTTP waits until its time is up",
  systemTime:
    "its limits run on the system's time: they have to pass, and a busy machine uses them up before the call is out",
  hurry: "the probe for the modern era does not listen to the caller's signal",
} as const;

export type Difference = keyof typeof differences;
