/** The name of the demo server, in a file of its own so that importing it loads nothing else. */

export const demoName = "demo";
