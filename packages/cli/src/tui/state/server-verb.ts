/** What a person can do to a server. */

export const serverVerbs = ["start", "stop", "restart", "enable", "disable", "auth", "test"] as const;
export type ServerVerb = (typeof serverVerbs)[number];
