/** The actions on a server. */

export const serverVerbs = ["start", "stop", "restart", "enable", "disable", "auth", "test"] as const;
export type ServerVerb = (typeof serverVerbs)[number];
