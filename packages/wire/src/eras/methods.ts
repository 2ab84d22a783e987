/** The methods whose requests get a progress token or have no timeout. */

/** Methods that always get a progress token, because progress restarts their timeout. */
export const slowMethods: ReadonlySet<string> = new Set([
  "tools/call",
  "resources/read",
  "prompts/get",
  "tasks/result",
]);

/** The subscription request. It stays open until one side ends it, so it has no timeout by default. */
export const listenMethod = "subscriptions/listen";
