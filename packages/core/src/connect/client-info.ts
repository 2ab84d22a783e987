/** The `clientInfo` that Fairlead sends to every server. */

export const clientInfo = { name: "fairlead", title: "Fairlead", version: "0.2.0" } as const;
