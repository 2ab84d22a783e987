/** The name of the demo server. It has its own file, so that importing the name loads nothing else. */

export const demoName = "demo";
