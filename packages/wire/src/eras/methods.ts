/** What the engine knows about single methods; of all others it knows nothing. */

/** May take long: progress is asked for even if nobody listens, because it restarts the clock. */
export const slowMethods: ReadonlySet<string> = new Set([
  "tools/call",
  "resources/read",
  "prompts/get",
  "tasks/result",
]);

/** Stays open until one side ends it, and is silent when there is nothing to say. */
export const listenMethod = "subscriptions/listen";
