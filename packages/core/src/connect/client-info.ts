/** The `clientInfo` that Fairlead sends to every server. */

/** Fairlead's name and version. The version is that of the package. */
export const clientInfo = { name: "fairlead", title: "Fairlead", version: "0.3.0" } as const;
