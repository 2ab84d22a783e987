/** The name of the demo server, in its own file: an import of the name loads no other code. */

/** The name of the demo server in settings and commands. */
export const demoName = "demo";
