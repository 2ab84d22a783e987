/** Who we are to a server. */

export const clientInfo = { name: "fairlead", title: "Fairlead", version: "0.1.0" } as const;
